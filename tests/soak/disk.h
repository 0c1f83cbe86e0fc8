// A disk that does what disks are allowed to do. Every system call that a program makes on the files of one
// folder goes through here: it can fail, stop half way, be the last before the process is killed, or the last
// before the power fails, when only what was synced is sure to be there afterwards.
//
// For a program of its own, preload_disk.cpp makes this a library to be preloaded.
//
// The functions open, pwrite, fsync ... are defined in disk.cpp, so that calls from the program and from its shared
// libraries (SQLite) come here first; those that concern no watched folder are passed on.
#pragma once

#include <cstdint>
#include <filesystem>

namespace disk {

enum class Fault {
  none,
  error,        // the call does nothing and fails: EIO, ENOLCK for locks
  full,         // a write stops half way, then ENOSPC; other changes fail with ENOSPC at once
  short_write,  // a write writes half and says so; others are interrupted (EINTR)
  kill_before,  // the process is killed instead of the call
  kill_midway,  // a write stops half way and the process is killed; others as kill_before
  kill_after,   // the process is killed right after the call
  power,        // the power fails instead of the call
  terminate,    // the process gets SIGTERM right after the call
};

struct Trouble {
  Fault fault = Fault::none;
  long call = 0;           // hits this call on files of the folder, counted from 1
  bool lasting = false;    // and all later ones that change something
  long power = 0;          // the power fails at this call besides, if not 0
  std::uint64_t seed = 1;  // decides what a power failure loses: any part of what was not synced
};

// From now on. Calls may come from any thread.
void watch(const std::filesystem::path& folder, const Trouble& trouble);

// The power fails now, whatever happened before.
[[noreturn]] void fail_power();

// The calls so far, and how many of them read.
long calls();
long reads();

// Passes everything on again.
void unwatch();

}  // namespace disk
