; SPDX-License-Identifier: GPL-2.0-only OR MIT
; A program for lli, LLVM's JIT compiler, whose code has no frame pointers: calls that are not the last thing that a function does.
define i64 @fib(i64 %n) noinline {
	%small = icmp ult i64 %n, 2
	br i1 %small, label %end, label %more
more:
	%one = sub i64 %n, 1
	%a = call i64 @fib(i64 %one)
	%two = sub i64 %n, 2
	%b = call i64 @fib(i64 %two)
	%sum = add i64 %a, %b
	ret i64 %sum
end:
	ret i64 %n
}

define i32 @main() {
	%f = call i64 @fib(i64 33)
	%odd = icmp ne i64 %f, 3524578
	%status = zext i1 %odd to i32
	ret i32 %status
}
