! Calls a UMAT at many states, as Abaqus does: F is handed over column by column.
subroutine many(count, f, c, nprops, ndi, nshr, psi, stress, tangent, cuts) bind(c)
  use iso_c_binding
  implicit none
  integer(c_int), value :: count, nprops, ndi, nshr
  real(c_double) :: f(9, count), c(nprops), psi(count), stress(6, count), tangent(36, count)
  real(c_double) :: cuts(count)
  character(len=80) :: name
  real(8) :: s(ndi + nshr), h(ndi + nshr, ndi + nshr), f1(3, 3), statev(1), ddsddt(6), drplde(6)
  real(8) :: stran(6), dstran(6), time(2), predef(1), dpred(1), coords(3), drot(3, 3), f0(3, 3)
  real(8) :: sse, spd, scd, rpl, drpldt, dtime, temp, dtemp, pnewdt, celent
  integer :: n, m, k, size
  name = 'LAW'
  size = ndi + nshr
  do n = 1, count
    f1 = transpose(reshape(f(:, n), (/3, 3/)))
    pnewdt = 1
    s = 0
    h = 0
    sse = 0
    call umat(s, statev, h, sse, spd, scd, rpl, ddsddt, drplde, drpldt, stran, dstran, time, &
      dtime, temp, dtemp, predef, dpred, name, ndi, nshr, size, 0, c, nprops, coords, drot, &
      pnewdt, celent, f0, f1, 1, 1, 1, 1, 1, 1)
    psi(n) = sse
    cuts(n) = pnewdt
    do m = 1, size
      stress(m, n) = s(m)
      do k = 1, size
        tangent(6*(m - 1) + k, n) = h(m, k)
      end do
    end do
  end do
end subroutine

subroutine xit
  stop 3
end subroutine
