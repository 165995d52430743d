// SPDX-License-Identifier: GPL-2.0-only OR MIT

// A Go program: goroutines, maps, a recovered panic.
package main

import (
	"fmt"
	"os"
	"sort"
)

func fails(n int) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("recovered: %v", r)
		}
	}()
	v := make([]int, n)
	v[n]++
	return nil
}

func main() {
	counts := map[string]int{}
	results := make(chan string)
	for i := 0; i < 4; i++ {
		go func(n int) { results <- fmt.Sprint(n * n) }(i)
	}
	for i := 0; i < 4; i++ {
		counts[<-results]++
	}
	keys := []string{}
	for k := range counts {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	err := fails(3)
	fmt.Println(keys, err)
	if err == nil {
		os.Exit(1)
	}
}
