/* Calls the functions of an exported header at many states. */
#include "law.h"

void many(int count, const double *F, const double *c, double *psi, double *cauchy,
          double *jaumann, double *piola, double *material) {
  int n;
  for (n = 0; n < count; n++) {
    psi[n] = steinmetz_cauchy(F + 9 * n, c, cauchy + 6 * n, jaumann + 36 * n);
    steinmetz_second_piola(F + 9 * n, c, piola + 6 * n, material + 36 * n);
  }
}
