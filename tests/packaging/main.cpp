// Uses an installed SnapDP the way its README says.
#include <cstdio>
#include <string>

#include "snapdp/error.h"
#include "snapdp/numeric/rational.h"
#include "snapdp/version.h"

int main() {
  const snapdp::Rational tenth = snapdp::parse_rational("0.1", "epsilon");
  std::printf("snapdp %s: three tenths are %s\n", std::string(snapdp::version()).c_str(),
              snapdp::to_string(snapdp::Rational(tenth + tenth + tenth)).c_str());
  try {
    snapdp::parse_rational("one", "epsilon");
  } catch (const snapdp::Error& error) {
    return error.parameter() == "epsilon" ? 0 : 1;
  }
  return 1;
}
