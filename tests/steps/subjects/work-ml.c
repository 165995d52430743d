// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* What work.ml calls in C. */
#include <caml/callback.h>
#include <caml/memory.h>
#include <caml/mlvalues.h>

value apply_callback(value function, value argument);

value apply_callback(value function, value argument)
{
	CAMLparam2(function, argument);
	CAMLlocal1(result);

	result = caml_callback(function, argument);
	CAMLreturn(result);
}
