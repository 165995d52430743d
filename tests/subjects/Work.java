// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* A Java program: files, sorting with a comparator, exceptions, a thread. */
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Comparator;

public class Work {
	static long deep(int n) throws IOException {
		return n == 0 ? Files.size(Path.of("files/1")) : deep(n - 1) + 1;
	}

	public static void main(String[] args) throws Exception {
		File[] files = new File("files").listFiles();
		long sum = 0;

		for (int i = 0; i < 300; i++)
			sum += deep(i % 7);
		Arrays.sort(files, Comparator.comparingLong(File::length));
		try {
			Files.readAllBytes(Path.of("nothing"));
		} catch (IOException e) {
			sum++;
		}
		Thread thread = new Thread(() -> new File("files/2").lastModified());
		thread.start();
		thread.join();
		System.out.println(sum + " " + files.length);
	}
}
