// Which parameter an Error names.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "snapdp/error.h"

namespace snapdp {

// Of a call that throws invalid_argument; "accepted" when it throws nothing.
template <typename Function>
std::string refused_parameter(const Function& function) {
  try {
    function();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    return error.parameter();
  }
  return "accepted";
}

}  // namespace snapdp
