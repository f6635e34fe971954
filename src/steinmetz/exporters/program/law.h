/*
 @head@
 */
#ifndef STEINMETZ_LAW_H
#define STEINMETZ_LAW_H

#include <math.h>

#define STEINMETZ_CONSTANTS @count@

/* The constants of the law that was exported. */
static const double steinmetz_constants[STEINMETZ_CONSTANTS] = {
    @values@
};

static inline double steinmetz_exp(double z) { return exp(z < 300.0 ? z : 300.0); }

static inline double steinmetz_softplus(double z) {
  return (z > 0.0 ? z : 0.0) + log1p(exp(-fabs(z)));
}

static inline double steinmetz_logistic(double z) {
  double tail = exp(-fabs(z));
  return (z >= 0.0 ? 1.0 : tail) / (1.0 + tail);
}

/* Q_0 = sum of x_i^s over the roots of p(z) = z^3 - A z^2 + B z - J^2,
   Q_k = 1/(2 pi i) times the integral of z^s/p(z)^k around them. */
static inline double steinmetz_integral(int order, double s, double A, double B, double J) {
  const double pi = 3.14159265358979323846;
  double high = log(A), low = log(J * J / B), total = 0.0;
  double middle = 0.5 * (high + low), across = 0.5 * (high - low) + @beyond@;
  int point, k;
  for (point = 0; point < @points@; point++) {
    double turn = (point + 0.5) * pi / @points@;
    double re = middle + across * cos(turn), im = @height@ * sin(turn);
    double x = exp(re) * cos(im), y = exp(re) * sin(im);
    double u = x - A, v = y, p, q, r, f, g, size;
    p = u * x - v * y + B; q = u * y + v * x;
    u = p * x - q * y - J * J; v = p * y + q * x;
    size = exp((s + 1.0) * re);
    f = size * cos((s + 1.0) * im); g = size * sin((s + 1.0) * im);
    if (order == 0) {
      p = 3.0 * x - 2.0 * A; q = 3.0 * y;
      r = p * x - q * y + B; q = p * y + q * x; p = r;
      r = f * p - g * q; g = f * q + g * p; f = r;
    }
    for (k = 0; k < (order > 0 ? order : 1); k++) {
      size = u * u + v * v;
      r = (f * u + g * v) / size; g = (g * u - f * v) / size; f = r;
    }
    total += f * @height@ * cos(turn) - g * across * sin(turn);
  }
  return total / @points@;
}

/* Psi, its slopes in I1, I2, J, and 11, 22, JJ, 12, 1J, 2J of its second slopes. */
static inline void steinmetz_potential(double I1, double I2, double J, const double *c,
                                       double *psi, double d[3], double dd[6]) {
  (void)I1; (void)I2; (void)J;
  @potential@
}

static inline void steinmetz_product(const double a[9], const double b[9], double ab[9]) {
  int i, j;
  for (i = 0; i < 3; i++)
    for (j = 0; j < 3; j++)
      ab[3 * i + j] = a[3 * i] * b[j] + a[3 * i + 1] * b[3 + j] + a[3 * i + 2] * b[6 + j];
}

static inline double steinmetz_double(const double a[9], const double b[9]) {
  int i;
  double total = 0.0;
  for (i = 0; i < 9; i++) total += a[i] * b[i];
  return total;
}

static inline double steinmetz_determinant(const double F[9]) {
  return F[0] * (F[4] * F[8] - F[5] * F[7]) - F[1] * (F[3] * F[8] - F[5] * F[6]) +
         F[2] * (F[3] * F[7] - F[4] * F[6]);
}

static inline void steinmetz_inverse(const double a[9], double b[9]) {
  double det = steinmetz_determinant(a);
  b[0] = (a[4] * a[8] - a[5] * a[7]) / det; b[1] = (a[2] * a[7] - a[1] * a[8]) / det;
  b[2] = (a[1] * a[5] - a[2] * a[4]) / det; b[3] = (a[5] * a[6] - a[3] * a[8]) / det;
  b[4] = (a[0] * a[8] - a[2] * a[6]) / det; b[5] = (a[2] * a[3] - a[0] * a[5]) / det;
  b[6] = (a[3] * a[7] - a[4] * a[6]) / det; b[7] = (a[1] * a[6] - a[0] * a[7]) / det;
  b[8] = (a[0] * a[4] - a[1] * a[3]) / det;
}

/* Components 11, 22, 33, 12, 13, 23 of a symmetric tensor. */
static const int steinmetz_row[6] = {0, 1, 2, 0, 0, 1};
static const int steinmetz_column[6] = {0, 1, 2, 1, 2, 2};

static inline void steinmetz_unit(int n, double D[9]) {
  int i;
  for (i = 0; i < 9; i++) D[i] = 0.0;
  D[3 * steinmetz_row[n] + steinmetz_column[n]] += 0.5;
  D[3 * steinmetz_column[n] + steinmetz_row[n]] += 0.5;
}

/* F row by row. Returns Psi; Cauchy stress, and the modulus of the Jaumann rate of Kirchhoff's
   stress over J, row by row: what a UMAT gives as STRESS and DDSDDE. */
static inline double steinmetz_cauchy(const double F[9], const double *c, double stress[6],
                                      double tangent[36]) {
  double Ft[9], b[9], b2[9], D[9], Db[9], bD[9], Db2[9], b2D[9], bDb[9], psi, d[3], dd[6], t;
  double I1, I2, J = steinmetz_determinant(F), alpha, beta;
  int i, j, m, n;
  for (i = 0; i < 3; i++)
    for (j = 0; j < 3; j++) Ft[3 * i + j] = F[3 * j + i];
  steinmetz_product(F, Ft, b);
  steinmetz_product(b, b, b2);
  I1 = b[0] + b[4] + b[8];
  I2 = 0.5 * (I1 * I1 - (b2[0] + b2[4] + b2[8]));
  steinmetz_potential(I1, I2, J, c, &psi, d, dd);
  alpha = 2.0 * (d[0] + I1 * d[1]);
  beta = -2.0 * d[1];
  for (m = 0; m < 6; m++) {
    i = 3 * steinmetz_row[m] + steinmetz_column[m];
    stress[m] = (alpha * b[i] + beta * b2[i] + (m < 3 ? J * d[2] : 0.0)) / J;
  }
  for (n = 0; n < 6; n++) {
    double i1, i2, ij, d1, d2, dj, da, db, dc;
    steinmetz_unit(n, D);
    t = D[0] + D[4] + D[8];
    steinmetz_product(D, b, Db); steinmetz_product(b, D, bD);
    steinmetz_product(D, b2, Db2); steinmetz_product(b2, D, b2D);
    steinmetz_product(bD, b, bDb);
    i1 = 2.0 * steinmetz_double(b, D);
    i2 = I1 * i1 - 2.0 * steinmetz_double(b2, D);
    ij = J * t;
    d1 = dd[0] * i1 + dd[3] * i2 + dd[4] * ij;
    d2 = dd[3] * i1 + dd[1] * i2 + dd[5] * ij;
    dj = dd[4] * i1 + dd[5] * i2 + dd[2] * ij;
    da = 2.0 * (d1 + i1 * d[1] + I1 * d2);
    db = -2.0 * d2;
    dc = ij * d[2] + J * dj;
    for (m = 0; m < 6; m++) {
      i = 3 * steinmetz_row[m] + steinmetz_column[m];
      tangent[6 * m + n] = (da * b[i] + db * b2[i] + (m < 3 ? dc : 0.0) +
                            alpha * (Db[i] + bD[i]) + beta * (Db2[i] + b2D[i] + 2.0 * bDb[i])) / J;
    }
  }
  return psi;
}

/* F row by row. Returns Psi; second Piola-Kirchhoff stress S, and dS/dE row by row. */
static inline double steinmetz_second_piola(const double F[9], const double *c, double stress[6],
                                            double tangent[36]) {
  double Ft[9], C[9], C2[9], X[9], D[9], XD[9], XDX[9], psi, d[3], dd[6];
  double I1, I2, J = steinmetz_determinant(F), alpha, beta, gamma;
  int i, j, m, n;
  for (i = 0; i < 3; i++)
    for (j = 0; j < 3; j++) Ft[3 * i + j] = F[3 * j + i];
  steinmetz_product(Ft, F, C);
  steinmetz_product(C, C, C2);
  steinmetz_inverse(C, X);
  I1 = C[0] + C[4] + C[8];
  I2 = 0.5 * (I1 * I1 - (C2[0] + C2[4] + C2[8]));
  steinmetz_potential(I1, I2, J, c, &psi, d, dd);
  alpha = 2.0 * (d[0] + I1 * d[1]);
  beta = -2.0 * d[1];
  gamma = J * d[2];
  for (m = 0; m < 6; m++) {
    i = 3 * steinmetz_row[m] + steinmetz_column[m];
    stress[m] = (m < 3 ? alpha : 0.0) + beta * C[i] + gamma * X[i];
  }
  for (n = 0; n < 6; n++) {
    double i1, i2, ij, d1, d2, dj, da, db, dc;
    steinmetz_unit(n, D);
    steinmetz_product(X, D, XD);
    steinmetz_product(XD, X, XDX);
    i1 = 2.0 * (D[0] + D[4] + D[8]);
    i2 = I1 * i1 - 2.0 * steinmetz_double(C, D);
    ij = J * steinmetz_double(X, D);
    d1 = dd[0] * i1 + dd[3] * i2 + dd[4] * ij;
    d2 = dd[3] * i1 + dd[1] * i2 + dd[5] * ij;
    dj = dd[4] * i1 + dd[5] * i2 + dd[2] * ij;
    da = 2.0 * (d1 + i1 * d[1] + I1 * d2);
    db = -2.0 * d2;
    dc = ij * d[2] + J * dj;
    for (m = 0; m < 6; m++) {
      i = 3 * steinmetz_row[m] + steinmetz_column[m];
      tangent[6 * m + n] = (m < 3 ? da : 0.0) + db * C[i] + 2.0 * beta * D[i] + dc * X[i] -
                           2.0 * gamma * XDX[i];
    }
  }
  return psi;
}

#endif
