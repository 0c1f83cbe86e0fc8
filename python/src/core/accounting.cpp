// Certificates, composition and black-box audits.
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <utility>
#include <vector>

#include "core/bindings.h"
#include "core/noise.h"
#include "core/numbers.h"
#include "snapdp/privacy/audit.h"
#include "snapdp/privacy/certificate.h"
#include "snapdp/privacy/composition_bounds.h"

namespace snapdp::python {
namespace {

Facts certificate_of(const NoiseQuestion& question) {
  const Mechanism mechanism = question.mechanism(question.required_epsilon());
  Certificate certificate;
  {
    const nb::gil_scoped_release unlocked;
    certificate = certify(mechanism);
  }
  const Noise& noise = mechanism.noise();
  Facts facts;
  facts["witness"] = certificate.witness_text();
  facts["bound"] = certificate.bound_text();
  facts["notes_claim"] = certificate.notes_claim_text();
  facts["notes_claim_holds"] = certificate.notes_claim_holds();
  facts["within_epsilon"] = certificate.bound <= *question.epsilon;
  facts["scale"] = to_string(noise.scale.exact());
  facts["grid"] = to_string(noise.grid.spacing());
  return facts;
}

Facts composition_of(const std::vector<std::pair<std::string, std::int64_t>>& losses,
                     const std::string& delta_text) {
  std::vector<EqualReleases> releases;
  for (const auto& [epsilon, count] : losses) releases.push_back({positive(epsilon, "epsilons"), count});
  const Rational delta = parse_rational(delta_text, "delta");
  Facts facts;
  Rational basic;
  Rational rho;
  CompositionBound optimal;
  std::optional<Rational> zcdp;
  {
    const nb::gil_scoped_release unlocked;
    basic = basic_composition(releases);
    optimal = optimal_composition(releases, delta);
    rho = zcdp_composition(releases);
    zcdp = zcdp_to_epsilon(rho, delta);
  }
  facts["basic"] = to_string(basic);
  facts["optimal"] = to_string(optimal.epsilon);
  facts["optimal_at_least"] = to_string(optimal.at_least);
  facts["rho"] = to_string(rho);
  facts["zcdp"] = zcdp ? nb::object(nb::str(to_string(*zcdp).c_str())) : nb::none();
  return facts;
}

using Samples = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

Facts audit_of(const Samples& first, const Samples& second, const std::string& alpha_text) {
  const Rational alpha = parse_rational(alpha_text, "alpha");
  AuditResult result;
  {
    const nb::gil_scoped_release unlocked;
    result = audit({first.data(), first.shape(0)}, {second.data(), second.shape(0)}, alpha);
  }
  Facts facts;
  facts["loss_lower_bound"] = result.loss_lower_bound;
  facts["event"] = result.event.description();
  facts["likelier_is_first"] = result.likelier_is_first;
  facts["likelier"] = nb::make_tuple(result.likelier.hits, result.likelier.trials);
  facts["rarer"] = nb::make_tuple(result.rarer.hits, result.rarer.trials);
  return facts;
}

}  // namespace

void bind_accounting(nb::module_& module) {
  module.def("certify", &certificate_of, nb::arg("question"));
  module.def("compose", &composition_of, nb::arg("losses"), nb::arg("delta"));
  module.def("audit", &audit_of, nb::arg("first"), nb::arg("second"), nb::arg("alpha"));
}

}  // namespace snapdp::python
