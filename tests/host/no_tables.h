/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
#ifndef HOST_NO_TABLES_H
#define HOST_NO_TABLES_H

/* Return: the sum of what f(i, @arg) returns for each i below @n. */
unsigned long add_up(unsigned long n, unsigned long (*f)(unsigned long i, void *arg), void *arg);

#endif /* HOST_NO_TABLES_H */
