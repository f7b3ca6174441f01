// SPDX-License-Identifier: GPL-2.0
// Segments of another node against loopback on this one.
#include "access.hpp"
#include "connection.hpp"
#include "rows.hpp"
#include "service.hpp"

namespace rsmperf {

namespace {

static_assert(service_size == connect_size);

// The same segment twice: one of a process here, and one of the other node.
class Pair {
  public:
    explicit Pair(const Settings &settings)
        : exporter_(service_size), far_(reach_service(settings)) {}

    [[nodiscard]] const Controller &near() const { return near_; }
    [[nodiscard]] rsm_memseg_id_t near_id() const { return exporter_.id(); }
    [[nodiscard]] const Controller &far() const { return far_; }

  private:
    Exporter exporter_;
    Controller near_;
    Controller far_;
};

Times compare_step(const Settings &settings, Step step) {
    const Pair pair(settings);
    const auto far_count = calibrate(settings, connect_batch(pair.far(), service_id));
    const auto near_count = calibrate(settings, connect_batch(pair.near(), pair.near_id()));

    return in_turns(
        settings, single([&] { return time_step(pair.far(), service_id, step, far_count); }),
        single([&] { return time_step(pair.near(), pair.near_id(), step, near_count); }));
}

} // namespace

Times peer_load_store(const Settings &settings) {
    const Pair pair(settings);
    Import near(pair.near(), pair.near_id());
    Import far(pair.far(), service_id);

    return compare(settings, load_store_batch(far.map(MiB)), load_store_batch(near.map(MiB)));
}

Times peer_put_1m(const Settings &settings) {
    const Pair pair(settings);
    const CopySource source(MiB);
    Import near(pair.near(), pair.near_id());
    Import far(pair.far(), service_id);

    const auto put = [&source](Import &import) {
        return put_batch(import, source.apart_from(import.map(MiB)));
    };
    return compare(settings, put(far), put(near));
}

Times peer_cycle(const Settings &settings) {
    const Pair pair(settings);
    return compare(settings, connect_batch(pair.far(), service_id),
                   connect_batch(pair.near(), pair.near_id()));
}

Times peer_connect(const Settings &settings) {
    return compare_step(settings, Step::connect);
}

Times peer_map(const Settings &settings) {
    return compare_step(settings, Step::map);
}

Times peer_unmap(const Settings &settings) {
    return compare_step(settings, Step::unmap);
}

Times peer_disconnect(const Settings &settings) {
    return compare_step(settings, Step::disconnect);
}

} // namespace rsmperf
