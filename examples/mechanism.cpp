// The mechanism alone, for whoever has an exact statistic and its sensitivity already.
#include <snapdp/mechanism/snapping.h>

#include <iostream>

using namespace snapdp;

int main() {
  const Snapping mechanism({.epsilon = Rational(1, 4), .sensitivity = Dyadic(1), .lower = 0, .upper = 100});
  const Dyadic noisy = mechanism.release(Dyadic(42), thread_generator());
  std::cout << to_string(noisy) << ", a multiple of " << to_string(mechanism.grid().spacing())
            << " or a bound; the loss is at most " << to_string(mechanism.loss_bound()) << "\n";
}
