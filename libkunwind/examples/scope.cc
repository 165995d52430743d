// SPDX-License-Identifier: MIT
/*
 * Samples what a scope of C++ does: the constructor starts, the destructor stops, also when
 * an exception leaves the scope.
 *
 *	c++ -g scope.cc $(pkg-config --cflags --libs libkunwind) -o scope
 *	./scope /tmp/scope && kunwind report --top /tmp/scope
 */
#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <random>
#include <string>
#include <system_error>
#include <vector>

#include <libkunwind.h>

namespace {

class Profile {
public:
	Profile(const std::string &folder, unsigned int hz)
	{
		kunwind_handle *handle;

		check(kunwind_open(&handle), "kunwind_open");
		/* The profile does not need the handle any more. */
		const std::unique_ptr<kunwind_handle, void (*)(kunwind_handle *)>
			closes(handle, kunwind_close);
		check(kunwind_profile_start(handle, hz, folder.c_str()),
		      "kunwind_profile_start");
	}

	~Profile()
	{
		const int lost = kunwind_profile_stop();

		if (lost)
			std::cerr << "the profile is not whole: " << lost << '\n';
	}

	Profile(const Profile &) = delete;
	Profile &operator=(const Profile &) = delete;

private:
	static void check(int result, const char *what)
	{
		if (result < 0)
			throw std::system_error(-result, std::generic_category(), what);
	}
};

/* What is to be made faster. */
std::size_t work()
{
	std::vector<std::string> words;
	std::mt19937 random;

	for (int i = 0; i < 500000; i++)
		words.push_back(std::to_string(random()));
	std::sort(words.begin(), words.end());
	return words.size();
}

} // namespace

int main(int argc, char **argv)
{
	try {
		const Profile profile(argc > 1 ? argv[1] : "scope-profile", 99);

		std::cout << work() << " words\n";
	} catch (const std::exception &problem) {
		std::cerr << problem.what() << '\n';
		return EXIT_FAILURE;
	}
	return EXIT_SUCCESS;
}
