// All of SnapDP that is installed: the core, and the ledger, specifications and the sources over DuckDB and
// Arrow where these were built. A program that includes it links what it uses: snapdp::snapdp,
// snapdp::privacy, snapdp::release, snapdp::duckdb, snapdp::arrow.
//
//   #include <snapdp/snapdp.h>
//   using namespace snapdp;
//
//   auto ages = vector_domain<double>().of_size(10'000);
//   auto clamped = make_clamp(ages, change_one(), Bounds(0, 100));
//   auto mean_age = clamped >> make_mean() >> make_snapping({.epsilon = "1/4"});
//   InMemoryAccountant budget(1);
//   Dyadic value = mean_age.release(rows, budget).values[0];
#pragma once

#include "snapdp/error.h"
#include "snapdp/framework/accountant.h"
#include "snapdp/framework/arrow.h"
#include "snapdp/framework/composition.h"
#include "snapdp/framework/measurement.h"
#include "snapdp/framework/source.h"
#include "snapdp/mechanism/accuracy.h"
#include "snapdp/mechanism/bounds.h"
#include "snapdp/mechanism/choice.h"
#include "snapdp/mechanism/law.h"
#include "snapdp/mechanism/mechanism.h"
#include "snapdp/mechanism/selection.h"
#include "snapdp/mechanism/trace.h"
#include "snapdp/statistics/from_parts.h"
#include "snapdp/statistics/noisy_parts.h"
#include "snapdp/statistics/population.h"
#include "snapdp/statistics/private_groups.h"
#include "snapdp/statistics/quantiles.h"
#include "snapdp/statistics/regression.h"
#include "snapdp/statistics/rounding.h"
#include "snapdp/statistics/statistics.h"
#include "snapdp/version.h"

#if __has_include("snapdp/privacy/ledger.h")
#include "snapdp/mechanism/gaussian_loss.h"
#include "snapdp/privacy/audit.h"
#include "snapdp/privacy/certificate.h"
#include "snapdp/privacy/composition_bounds.h"
#include "snapdp/privacy/dilation.h"
#include "snapdp/privacy/ledger.h"
#endif
#if __has_include("snapdp/release/release.h")
#include "snapdp/release/release.h"
#endif
#if __has_include("snapdp/engines/duckdb/duckdb_source.h")
#include "snapdp/engines/duckdb/duckdb_source.h"
#endif
#if __has_include("snapdp/engines/arrow/arrow_source.h")
#include "snapdp/engines/arrow/arrow_source.h"
#endif
