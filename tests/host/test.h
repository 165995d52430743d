/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* What every unit test includes: cmocka, with TAP for automake's driver. */
#ifndef HOST_TEST_H
#define HOST_TEST_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "kunwind_port.h"

/* int main() of a file whose tests are in @tests. */
#define TEST_MAIN(tests) \
	int main(void) \
	{ \
		cmocka_set_message_output(CM_OUTPUT_TAP); \
		return cmocka_run_group_tests(tests, NULL, NULL); \
	}

const char *stop_name(u32 stop);

/* Compare stop reasons by name. */
#define assert_stop(stop, name) assert_string_equal(stop_name(stop), #name)

#endif /* HOST_TEST_H */
