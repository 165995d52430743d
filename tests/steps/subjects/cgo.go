// SPDX-License-Identifier: GPL-2.0-only OR MIT

// A Go program that calls C, which calls back: each on a stack of its own.
package main

/*
#include <stdlib.h>

int compare(void *a, void *b);

static int compare_in_c(const void *a, const void *b)
{
	return compare((void *)a, (void *)b);
}

static void sort(int *numbers, int count)
{
	qsort(numbers, count, sizeof(numbers[0]), compare_in_c);
}

static int twice(int n)
{
	return 2 * n;
}
*/
import "C"

import (
	"fmt"
	"unsafe"
)

var calls int

//export compare
func compare(a, b unsafe.Pointer) C.int {
	calls++
	return *(*C.int)(a) - *(*C.int)(b)
}

func deep(n int) int {
	var room [256]byte
	if n == 0 {
		return int(C.twice(C.int(len(room))))
	}
	return deep(n-1) + int(room[n])
}

func main() {
	var numbers [12]C.int
	for i := range numbers {
		numbers[i] = C.int((i + 1) * 7919 % 101)
	}
	C.sort(&numbers[0], C.int(len(numbers)))
	done := make(chan int)
	go func() { done <- deep(40) }()
	fmt.Println(numbers[0], calls > 0, <-done)
}
