! Calls a UHYPER at many modified invariants.
subroutine many(count, x, c, nprops, u, u1, u2, u3) bind(c)
  use iso_c_binding
  implicit none
  integer(c_int), value :: count, nprops
  real(c_double) :: x(3, count), c(nprops), u(2, count), u1(3, count), u2(6, count), u3(6, count)
  character(len=80) :: name
  real(8) :: statev(1), field(1), inc(1)
  integer :: n
  name = 'LAW'
  do n = 1, count
    call uhyper(x(1, n), x(2, n), x(3, n), u(1, n), u1(1, n), u2(1, n), u3(1, n), 0d0, 1, name, &
      0, 0, statev, 0, field, inc, nprops, c)
  end do
end subroutine

subroutine xit
  stop 3
end subroutine
