// SPDX-License-Identifier: GPL-2.0
// Ways to use uDAPL that are some program's normal ones, and take other paths than the quick one:
// each against the quick way of the same library.
#include "dat_server.hpp"
#include "rows.hpp"

namespace rsmperf {

namespace {

constexpr std::size_t within_page = 8; // an offset that no page boundary has

// Writes to a region of some kind, against writes to a region that is page aligned and may be read.
Times to_region(const Settings &settings, const DatRegion &region) {
    const auto size = settings.point.size;
    DatServer server(DatRole::stay, {.size = size, .regions = {region}});
    DatSide side(whole_pages(size));
    server.connect(side);

    return compare(settings, repeat([&] { side.write(server.regions()[1], size); }),
                   repeat([&] { side.write(server.memory(), size); }));
}

// A side and as many endpoints as a dispatcher is to have, all connected.
class Dispatcher {
  public:
    explicit Dispatcher(std::size_t endpoints)
        : server_(DatRole::stay, {.size = page_size(), .endpoints = endpoints}),
          side_(page_size(), local_adapter, endpoints) {
        server_.connect(side_);
    }

    void poll() const {
        if (side_.poll()) {
            throw std::runtime_error("an event came that nobody expected");
        }
    }

  private:
    DatServer server_;
    DatSide side_;
};

} // namespace

Times dat_unaligned(const Settings &settings) {
    return to_region(settings, {.size = settings.point.size, .offset = within_page});
}

Times dat_write_only(const Settings &settings) {
    constexpr auto rights =
        static_cast<DAT_MEM_PRIV_FLAGS>(DAT_MEM_PRIV_LOCAL_READ_FLAG | DAT_MEM_PRIV_WRITE_FLAG);
    return to_region(settings, {.size = whole_pages(settings.point.size), .rights = rights});
}

Times dat_contexts(const Settings &settings) {
    const auto size = settings.point.size;
    const auto contexts = settings.point.contexts;
    DatServer server(
        DatRole::stay,
        {.size = size, .regions = std::vector<DatRegion>(contexts, {.size = whole_pages(size)})});
    DatSide side(whole_pages(size));
    server.connect(side);

    std::size_t turn = 0;
    return compare(settings, repeat([&] {
                       turn = turn % contexts + 1;
                       side.write(server.regions()[turn], size);
                   }),
                   repeat([&] { side.write(server.memory(), size); }));
}

Times dat_suppress(const Settings &settings) {
    const auto size = settings.point.size;
    const auto window = settings.point.window;
    DatServer server(DatRole::stay, {.size = size});
    DatSide side(whole_pages(size));
    server.connect(side);

    return compare(
        settings,
        [&](std::size_t count) { side.write_quietly(server.memory(), size, count, window); },
        [&](std::size_t count) { side.write_many(server.memory(), size, count, window); });
}

Times dat_poll(const Settings &settings) {
    const Dispatcher many(settings.point.endpoints);
    const Dispatcher one(1);

    return compare(settings, repeat([&] { many.poll(); }), repeat([&] { one.poll(); }));
}

} // namespace rsmperf
