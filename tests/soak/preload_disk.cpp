// disk.h for a program of its own: a library to be named in LD_PRELOAD, told by the environment what to do.
//
//   SNAPDP_DISK="FOLDER FAULT CALL LASTING POWER SEED"    FAULT is the number of a disk::Fault; with a POWER of -1
//                                                         the power fails when the process ends
//   SNAPDP_DISK_CALLS=FILE    at the end of the process, the number of calls is written there
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include "soak/disk.h"

namespace {

struct Preloaded {
  Preloaded() {
    const char* const text = std::getenv("SNAPDP_DISK");
    if (text == nullptr) return;
    std::istringstream words(text);
    std::string folder;
    int fault = 0;
    disk::Trouble trouble;
    words >> folder >> fault >> trouble.call >> trouble.lasting >> trouble.power >> trouble.seed;
    if (words.fail()) std::abort();
    trouble.fault = static_cast<disk::Fault>(fault);
    disk::watch(folder, trouble);
    power_at_end_ = trouble.power < 0;
  }
  ~Preloaded() {
    const char* const file = std::getenv("SNAPDP_DISK_CALLS");
    if (file != nullptr) std::ofstream(file) << disk::calls();
    if (power_at_end_) disk::fail_power();
  }
  Preloaded(const Preloaded&) = delete;
  Preloaded& operator=(const Preloaded&) = delete;

 private:
  bool power_at_end_ = false;
};
const Preloaded preloaded;

}  // namespace
