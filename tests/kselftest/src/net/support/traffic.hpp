// SPDX-License-Identifier: GPL-2.0
// Transfers between this node and another, both ways, for tests that break what carries them.
#pragma once

#include "net/support/segments.hpp"

#include <vector>

namespace rsmtest::net {

// Puts, gets, stores and signals, over and over until this ends; importers and exporters are processes
// of their own.
class Traffic {
  public:
    // `pages`: the size of each segment.
    Traffic(unsigned here, unsigned there, std::size_t pages);
    // Waits until each of them has succeeded that often; false if one does nothing but fail.
    bool flows(std::uint64_t times = 2);
    // Waits until all of them fail. Needs a controller without mappings: a store into the mapping of an
    // ended connection does not fail.
    void expect_errors();
    // Ends all of them, and checks that each error, if there was one, tells of a lost connection. True
    // if there was none.
    bool end();
    // The other machine has ended: what this node imports is disconnected, nothing hangs, and what
    // this node exports is the exporter's own again.
    void expect_cut();

  private:
    std::vector<RemoteHammer *> here();
    std::vector<RemoteHammer *> all();
    bool is_whole(RemoteHammer &hammer);
    void expect_imports_cut();
    void expect_export_freed();

    std::size_t size_;
    Session exporter_here_;
    Session exporter_there_;
    Session importer_here_;
    Session storing_here_;
    Session importer_there_;
    RemoteExport exported_here_;
    RemoteExport exported_there_;
    int published_ = exported_here_.publish() | exported_there_.publish();
    RemoteImport puts_{importer_here_, exported_there_};
    RemoteImport gets_{importer_here_, exported_there_};
    RemoteImport stores_{storing_here_, exported_there_};
    RemoteImport theirs_{importer_there_, exported_here_};
    // Without mappings a put takes the place of the store.
    bool mapped_ = stores_.map(size_) == RSM_SUCCESS;
    RemoteHammer put_{importer_here_, "put", puts_.name(), size_};
    RemoteHammer get_{importer_here_, "get", gets_.name(), size_};
    RemoteHammer post_{importer_here_, "post", puts_.name()};
    RemoteHammer store_{storing_here_, mapped_ ? "store" : "put", stores_.name(), size_};
    RemoteHammer their_put_{importer_there_, "put", theirs_.name(), size_};
    RemoteHammer their_post_{importer_there_, "post", theirs_.name()};
};

} // namespace rsmtest::net
