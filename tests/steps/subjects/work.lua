-- SPDX-License-Identifier: GPL-2.0-only OR MIT
-- A LuaJIT program: traces, coroutines, errors, C's qsort() that calls back.
local ffi = require("ffi")
ffi.cdef[[
void qsort(void *base, size_t count, size_t size,
           int (*compare)(const void *a, const void *b));
]]

local sum = 0
for i = 1, 500 do
	sum = sum + i % 7
end

local function generate(n)
	return coroutine.wrap(function()
		for i = 1, n do
			coroutine.yield(i * i)
		end
	end)
end
for square in generate(20) do
	sum = sum + square
end

for i = 1, 5 do
	local good = pcall(function()
		if i % 2 == 0 then error("even") end
		return ("x"):rep(i):gsub("x", function(c) return c .. i end)
	end)
	sum = sum + (good and 1 or 2)
end

local numbers = ffi.new("int[?]", 16)
for i = 0, 15 do
	numbers[i] = (i + 1) * 7919 % 101
end
local compare = ffi.cast("int (*)(const void *, const void *)", function(a, b)
	return ffi.cast("const int *", a)[0] - ffi.cast("const int *", b)[0]
end)
ffi.C.qsort(numbers, 16, 4, compare)
local words = { "one", "two", "three", "four" }
table.sort(words, function(a, b) return #a < #b or (#a == #b and a < b) end)
print(sum, numbers[0], table.concat(words, " "))
