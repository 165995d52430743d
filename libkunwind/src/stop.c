// SPDX-License-Identifier: MIT
/* Names and sentences of the stop reasons, from the list in the ABI header. */
#include "internal.h"
#include "libkunwind.h"

EXPORT const char *kunwind_stop_name(uint32_t stop)
{
	switch (stop) {
#define STOP_NAME(number, name, sentence) case number: return #name;
	KUNWIND_STOPS(STOP_NAME)
#undef STOP_NAME
	default:
		return "?";
	}
}

EXPORT const char *kunwind_stop_text(uint32_t stop)
{
	switch (stop) {
#define STOP_TEXT(number, name, sentence) case number: return sentence;
	KUNWIND_STOPS(STOP_TEXT)
#undef STOP_TEXT
	default:
		return "unknown reason";
	}
}
