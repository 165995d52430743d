/* SPDX-License-Identifier: MIT */
/* libunwind's cursor functions: included for each of its libraries, with NAME() and NEXT(). */

int NAME(init_local)(unw_cursor_t *key, unw_context_t *context);
int NAME(init_local2)(unw_cursor_t *key, unw_context_t *context, int flag);
int NAME(init_remote)(unw_cursor_t *key, unw_addr_space_t space, void *arg);
int NAME(step)(unw_cursor_t *key);
int NAME(apply_reg_state)(unw_cursor_t *key, void *state);
int NAME(get_reg)(unw_cursor_t *key, int reg, unw_word_t *value);

EXPORT NOINLINE int NAME(init_local)(unw_cursor_t *key, unw_context_t *context)
{
	static int (*function)(unw_cursor_t *key, unw_context_t *context);

	if (!function)
		*(void **)&function = NEXT(init_local);
	cursor_start(key, CALLER(), "unw_init_local");
	return function(key, context);
}

/* From the context that a signal handler got: what it interrupted is on the handler's stack. */
EXPORT NOINLINE int NAME(init_local2)(unw_cursor_t *key, unw_context_t *context, int flag)
{
	static int (*function)(unw_cursor_t *key, unw_context_t *context, int flag);
	uint64_t from = CALLER();

	if (!function)
		*(void **)&function = NEXT(init_local2);
	if (flag == UNW_INIT_SIGNAL_FRAME)
		from = interrupted(context);
	cursor_start(key, from, "unw_init_local2");
	return function(key, context, flag);
}

EXPORT NOINLINE int NAME(init_remote)(unw_cursor_t *key, unw_addr_space_t space, void *arg)
{
	static int (*function)(unw_cursor_t *key, unw_addr_space_t space, void *arg);
	static unw_addr_space_t *local;

	if (!function) {
		*(void **)&function = NEXT(init_remote);
		local = NEXT(local_addr_space);
	}
	if (local && space == *local)
		cursor_start(key, CALLER(), "unw_init_remote");
	else
		cursor_forget(key);
	return function(key, space, arg);
}

static int NAME(next_get_reg)(unw_cursor_t *key, int reg, unw_word_t *value)
{
	static int (*function)(unw_cursor_t *key, int reg, unw_word_t *value);

	if (!function)
		*(void **)&function = NEXT(get_reg);
	return function(key, reg, value);
}

/* Their own cursor has made a step, or has ended before. */
static int NAME(stepped)(unw_cursor_t *key, int ret)
{
	struct cursor *cursor = cursor_of(key);
	unw_word_t ip = 0;

	if (!cursor)
		return ret;
	if (ret > 0 && NAME(next_get_reg)(key, UNW_REG_IP, &ip) < 0)
		ip = 0;
	return cursor_step(cursor, ret, ip);
}

EXPORT int NAME(step)(unw_cursor_t *key)
{
	static int (*function)(unw_cursor_t *key);

	if (!function)
		*(void **)&function = NEXT(step);
	return NAME(stepped)(key, cursor_ended(key) ? 0 : function(key));
}

/* A step by a rule that the program got before. */
EXPORT int NAME(apply_reg_state)(unw_cursor_t *key, void *state)
{
	static int (*function)(unw_cursor_t *key, void *state);

	if (!function)
		*(void **)&function = NEXT(apply_reg_state);
	return NAME(stepped)(key, cursor_ended(key) ? 0 : function(key, state));
}

EXPORT int NAME(get_reg)(unw_cursor_t *key, int reg, unw_word_t *value)
{
	struct cursor *cursor = cursor_of(key);

	if (reg == UNW_REG_IP && cursor && cursor->step) {
		*value = cursor->ip;
		return 0;
	}
	return NAME(next_get_reg)(key, reg, value);
}
