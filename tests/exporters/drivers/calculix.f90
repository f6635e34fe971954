! Calls a user material of CalculiX at many states, and spreads its 21 moduli over a matrix.
subroutine many(count, f, c, stress, tangent) bind(c)
  use iso_c_binding
  implicit none
  integer(c_int), value :: count
  real(c_double) :: f(9, count), c(*), stress(6, count), tangent(36, count)
  character(len=80) :: amat
  integer :: mi(3), ithermal(2), ipkon(1), n, m, k, place
  real(8) :: emec(6), emec0(6), beta(6), xokl(3, 3), xkl(3, 3), stre(6), stiff(21), pgauss(3)
  real(8) :: orab(7, 1), xstate(1, 1, 1), pnewdt, vj, det
  mi = 1
  ithermal = 0
  do n = 1, count
    xkl = transpose(reshape(f(:, n), (/3, 3/)))
    det = xkl(1,1)*(xkl(2,2)*xkl(3,3) - xkl(2,3)*xkl(3,2)) &
        - xkl(1,2)*(xkl(2,1)*xkl(3,3) - xkl(2,3)*xkl(3,1)) &
        + xkl(1,3)*(xkl(2,1)*xkl(3,2) - xkl(2,2)*xkl(3,1))
    vj = det
    call umat_user(amat, 1, 1, -100, c, emec, emec0, beta, xokl, 1d0, xkl, vj, ithermal, 0d0, &
      1d0, 1d0, 1d0, 0, 0, mi, 1, xstate, xstate, stre, stiff, 0, pgauss, orab, pnewdt, ipkon)
    stress(:, n) = stre
    place = 0
    do k = 1, 6
      do m = 1, k
        place = place + 1
        tangent(6*(m - 1) + k, n) = stiff(place)
        tangent(6*(k - 1) + m, n) = stiff(place)
      end do
    end do
  end do
end subroutine
