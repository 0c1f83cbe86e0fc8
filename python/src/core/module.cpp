#include "core/bindings.h"
#include "snapdp/version.h"

NB_MODULE(_core, module) {
  using namespace snapdp::python;
  module.doc() = "SnapDP's library, as snapdp's typed side calls it. Not for direct use.";
  module.attr("version") = nb::str(snapdp::version().data(), snapdp::version().size());
  bind_errors(module);
  bind_mechanism(module);
  bind_utility(module);
  bind_accounting(module);
  bind_plan(module);
  bind_ledger(module);
  bind_release(module);
  bind_chain(module);
}
