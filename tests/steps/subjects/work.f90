! SPDX-License-Identifier: GPL-2.0-only OR MIT
! A Fortran program: an internal procedure as an argument, called back by C's
! qsort() and from recursion; arrays, formatted output.
program work
  use, intrinsic :: iso_c_binding
  implicit none

  interface
     subroutine qsort(base, count, size, compare) bind(c)
       import :: c_ptr, c_size_t, c_funptr
       type(c_ptr), value :: base
       integer(c_size_t), value :: count, size
       type(c_funptr), value :: compare
     end subroutine
  end interface

  integer(c_int), allocatable, target :: numbers(:)
  integer :: i, compared
  real(8) :: area
  character(len=40) :: text

  compared = 0
  allocate(numbers(40))
  numbers = [(mod(i * 7919, 101), i = 1, size(numbers))]
  call qsort(c_loc(numbers), size(numbers, kind=c_size_t), 4_c_size_t, &
       c_funloc(compare))
  area = integrate(square, 0d0, 1d0, 4)
  numbers = matmul(reshape(numbers, [40, 1]), [2])
  write (text, '(i4,f8.4,i6)') numbers(1), area, compared
  print *, trim(text), sum(numbers)

contains

  function compare(a, b) bind(c) result(order)
    integer(c_int), intent(in) :: a, b
    integer(c_int) :: order

    compared = compared + 1
    order = a - b
  end function

  function square(x) result(y)
    real(8), intent(in) :: x
    real(8) :: y

    compared = compared + 1
    y = x * x
  end function

  recursive function integrate(f, lo, hi, depth) result(area)
    interface
       function f(x) result(y)
         real(8), intent(in) :: x
         real(8) :: y
       end function
    end interface
    real(8), intent(in) :: lo, hi
    integer, intent(in) :: depth
    real(8) :: area, middle

    middle = (lo + hi) / 2
    if (depth == 0) then
       area = f(middle) * (hi - lo)
    else
       area = integrate(f, lo, middle, depth - 1) + &
            integrate(f, middle, hi, depth - 1)
    end if
  end function
end program
