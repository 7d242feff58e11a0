// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "fuzzing.hpp"

namespace parshall::fuzz {

// A function for each target: hands an input to what reads such bytes, and requires what has to hold of any.
void fuzz_capture_file(Bytes input);
void fuzz_compressed(Bytes input);
void fuzz_connection(Bytes input);
void fuzz_dns(Bytes input);
void fuzz_echo(Bytes input);
void fuzz_exported(Bytes input);
void fuzz_filter(Bytes input);
void fuzz_frame(Bytes input);
void fuzz_http(Bytes input);
void fuzz_labels(Bytes input);
void fuzz_live(Bytes input);
void fuzz_model(Bytes input);
void fuzz_plan(Bytes input);
void fuzz_quic(Bytes input);
void fuzz_records(Bytes input);
void fuzz_samples(Bytes input);
void fuzz_states(Bytes input);
void fuzz_stream(Bytes input);
void fuzz_tasks(Bytes input);
void fuzz_test_frame(Bytes input);
void fuzz_tls(Bytes input);
void fuzz_traffic(Bytes input);
void fuzz_web(Bytes input);
void fuzz_words(Bytes input);

struct Target {
  std::string_view name;
  void (*run)(Bytes input);
};

/// Every target: one line each, here, above and in meson.build.
inline constexpr Target kTargets[] = {
    {"capture_file", fuzz_capture_file},
    {"compressed", fuzz_compressed},
    {"connection", fuzz_connection},
    {"dns", fuzz_dns},
    {"echo", fuzz_echo},
    {"exported", fuzz_exported},
    {"filter", fuzz_filter},
    {"frame", fuzz_frame},
    {"http", fuzz_http},
    {"labels", fuzz_labels},
    {"live", fuzz_live},
    {"model", fuzz_model},
    {"plan", fuzz_plan},
    {"quic", fuzz_quic},
    {"records", fuzz_records},
    {"samples", fuzz_samples},
    {"states", fuzz_states},
    {"stream", fuzz_stream},
    {"tasks", fuzz_tasks},
    {"test_frame", fuzz_test_frame},
    {"tls", fuzz_tls},
    {"traffic", fuzz_traffic},
    {"web", fuzz_web},
    {"words", fuzz_words},
};

}  // namespace parshall::fuzz
