// SPDX-License-Identifier: GPL-2.0
// put and get: I4 to I6.
#include "support/loopback.hpp"
#include "support/unchanged.hpp"

#include <cstring>
#include <csignal>
#include <numeric>
#include <sys/wait.h>

using namespace rsmtest;

namespace {

// The five kinds of put and get by width.
template <class T> struct Access;
#define ACCESS(type, suffix)                                                                     \
    template <> struct Access<type> {                                                            \
        static int put(rsm_memseg_import_handle_t h, off_t at, type *data, ulong_t count)        \
        {                                                                                        \
            return rsm_memseg_import_put##suffix(h, at, data, count);                            \
        }                                                                                        \
        static int get(rsm_memseg_import_handle_t h, off_t at, type *data, ulong_t count)        \
        {                                                                                        \
            return rsm_memseg_import_get##suffix(h, at, data, count);                            \
        }                                                                                        \
    }
ACCESS(std::uint8_t, 8);
ACCESS(std::uint16_t, 16);
ACCESS(std::uint32_t, 32);
ACCESS(std::uint64_t, 64);
#undef ACCESS

class ImportPutGet : public PublishedTest {
protected:
    template <class T> void widths(ImportSegment &h)
    {
        SCOPED_TRACE(testing::Message() << sizeof(T) << " bytes wide");
        const std::size_t size = memory.size();
        const auto value = static_cast<T>(0x1122334455667788u);
        T data = value;
        for (const std::size_t at : {std::size_t{0}, size / 2, size - sizeof(T)}) {
            memory.at<T>(at) = 0;
            EXPECT_EQ(Access<T>::put(h, static_cast<off_t>(at), &data, 1), RSM_SUCCESS);
            EXPECT_EQ(memory.at<T>(at), value);
            T back = 0;
            EXPECT_EQ(Access<T>::get(h, static_cast<off_t>(at), &back, 1), RSM_SUCCESS);
            EXPECT_EQ(back, value);
        }
        // all of it, and neighbours stay
        std::vector<T> whole(size / sizeof(T));
        std::iota(whole.begin(), whole.end(), T{1});
        EXPECT_EQ(Access<T>::put(h, 0, whole.data(), whole.size()), RSM_SUCCESS);
        EXPECT_EQ(std::memcmp(memory.data(), whole.data(), size), 0);
        std::vector<T> back(whole.size());
        EXPECT_EQ(Access<T>::get(h, 0, back.data(), back.size()), RSM_SUCCESS);
        EXPECT_EQ(back, whole);
        EXPECT_EQ(Access<T>::put(h, 2 * sizeof(T), &data, 1), RSM_SUCCESS);
        EXPECT_EQ(memory.at<T>(sizeof(T)), whole[1]);
        EXPECT_EQ(memory.at<T>(3 * sizeof(T)), whole[3]);
        // nothing at all
        EXPECT_EQ(Access<T>::put(h, 0, &data, 0), RSM_SUCCESS);
        EXPECT_EQ(Access<T>::get(h, static_cast<off_t>(size), &data, 0), RSM_SUCCESS);
        EXPECT_EQ(data, value);
    }

    template <class T> void errors(ImportSegment &h)
    {
        SCOPED_TRACE(testing::Message() << sizeof(T) << " bytes wide");
        const auto size = static_cast<off_t>(memory.size());
        const auto width = static_cast<off_t>(sizeof(T));
        alignas(16) std::byte buffer[64] = {};
        T *data = reinterpret_cast<T *>(buffer);
        const std::vector<std::byte> before(memory.data(), memory.data() + memory.size());
        const auto both = [&](off_t at, T *pointer, ulong_t count, int result) {
            EXPECT_EQ(Access<T>::put(h, at, pointer, count), result) << at << " " << count;
            EXPECT_EQ(Access<T>::get(h, at, pointer, count), result) << at << " " << count;
        };
        const auto length_or_offset = [&](off_t at, ulong_t count) {
            for (const int result :
                 {Access<T>::put(h, at, data, count), Access<T>::get(h, at, data, count)})
                EXPECT_TRUE(result == RSMERR_BAD_OFFSET || result == RSMERR_BAD_LENGTH)
                    << at << " " << count << ": " << result;
        };
        both(0, nullptr, 1, RSMERR_BAD_ADDR);
        EXPECT_EQ(Access<T>::put(nullptr, 0, nullptr, 1), RSMERR_BAD_SEG_HNDL);
        EXPECT_EQ(Access<T>::get(nullptr, 1, data, 1), RSMERR_BAD_SEG_HNDL);
        if (width > 1) {
            T *odd = reinterpret_cast<T *>(buffer + 1);
            both(0, odd, 1, RSMERR_BAD_MEM_ALIGNMENT);
            both(1, data, 1, RSMERR_BAD_MEM_ALIGNMENT);
            both(width / 2, data, 1, RSMERR_BAD_MEM_ALIGNMENT);
            both(size + 1, data, 1, RSMERR_BAD_MEM_ALIGNMENT);
            both(-1, data, 1, RSMERR_BAD_MEM_ALIGNMENT);
            both(1, odd, 0, RSMERR_BAD_MEM_ALIGNMENT);
        }
        both(size, data, 1, RSMERR_BAD_OFFSET);
        both(size + width, data, 0, RSMERR_BAD_OFFSET);
        both(-width, data, 1, RSMERR_BAD_OFFSET);
        both(-width, data, 2, RSMERR_BAD_OFFSET);
        both(static_cast<off_t>(~std::uint64_t{0} >> 1) / width * width, data, 1, RSMERR_BAD_OFFSET);
        both(static_cast<off_t>(std::uint64_t{1} << 63), data, 1, RSMERR_BAD_OFFSET);
        length_or_offset(size - width, 2);
        length_or_offset(0, static_cast<ulong_t>(size / width) + 1);
        // counts that overflow
        length_or_offset(0, ~0ul);
        if (width > 1) {
            length_or_offset(0, ~0ul / sizeof(T) + 1);
            length_or_offset(0, ~0ul / sizeof(T) + 2);
        }
        length_or_offset(width, ~0ul);
        length_or_offset(size - width, (1ul << 63) / sizeof(T));
        length_or_offset(width, 1ul << 32);
        length_or_offset(width, 1ul << 31);
        EXPECT_EQ(std::memcmp(memory.data(), before.data(), before.size()), 0)
            << "a failed put changed something";
    }
};

} // namespace

TEST_F(ImportPutGet, I4_every_width)
{
    ImportSegment h(ctl, seg.id());
    ASSERT_EQ(h.init_barrier(), RSM_SUCCESS);
    widths<std::uint8_t>(h);
    widths<std::uint16_t>(h);
    widths<std::uint32_t>(h);
    widths<std::uint64_t>(h);
    ASSERT_EQ(h.unmap(), RSM_SUCCESS);
    ASSERT_EQ(h.map(memory.size()), RSM_SUCCESS);
    widths<std::uint8_t>(h);
    widths<std::uint64_t>(h);
}

TEST_F(ImportPutGet, I4_errors)
{
    Unchanged unchanged;
    ImportSegment h(ctl, seg.id());
    ASSERT_EQ(h.init_barrier(), RSM_SUCCESS);
    for (std::size_t at = 0; at < memory.size(); at += 8)
        memory.at(at) = at;
    errors<std::uint8_t>(h);
    errors<std::uint16_t>(h);
    errors<std::uint32_t>(h);
    errors<std::uint64_t>(h);
    ASSERT_EQ(h.unmap(), RSM_SUCCESS);
    ASSERT_EQ(h.map(memory.size()), RSM_SUCCESS);
    errors<std::uint8_t>(h);
    errors<std::uint64_t>(h);
}

TEST_F(ImportPutGet, I4_byte_ranges)
{
    ImportSegment h(ctl, seg.id());
    ASSERT_EQ(h.init_barrier(), RSM_SUCCESS);
    std::vector<std::byte> source(memory.size() + 64);
    for (std::size_t i = 0; i < source.size(); i++)
        source[i] = static_cast<std::byte>(i * 7 + 3);
    for (const std::size_t length : {0, 1, 7, 8, 9, 63, 64, 65, 127, 255, 4095, 4096, 4097, 9000}) {
        for (const std::size_t skew : {0, 1, 3, 8, 13}) {
            std::memset(memory.data(), 0xee, memory.size());
            ASSERT_EQ(rsm_memseg_import_put(h, static_cast<off_t>(64 + skew), &source[skew / 2],
                                            length),
                      RSM_SUCCESS);
            EXPECT_EQ(std::memcmp(memory.data() + 64 + skew, &source[skew / 2], length), 0)
                << length << " " << skew;
            EXPECT_EQ(memory.at<std::uint8_t>(63 + skew), 0xee);
            EXPECT_EQ(memory.at<std::uint8_t>(64 + skew + length), 0xee) << length << " " << skew;
            std::vector<std::byte> back(length + 2, std::byte{0x55});
            ASSERT_EQ(rsm_memseg_import_get(h, static_cast<off_t>(64 + skew), back.data() + 1, length),
                      RSM_SUCCESS);
            EXPECT_EQ(std::memcmp(back.data() + 1, &source[skew / 2], length), 0);
            EXPECT_EQ(back.front(), std::byte{0x55});
            EXPECT_EQ(back.back(), std::byte{0x55});
        }
    }
}

TEST_F(ImportPutGet, I4_byte_range_errors)
{
    Unchanged unchanged;
    ImportSegment h(ctl, seg.id());
    ASSERT_EQ(h.init_barrier(), RSM_SUCCESS);
    std::byte data[16] = {};
    const auto size = static_cast<off_t>(memory.size());
    EXPECT_EQ(rsm_memseg_import_put(nullptr, 0, data, 1), RSMERR_BAD_SEG_HNDL);
    EXPECT_EQ(rsm_memseg_import_get(nullptr, 0, nullptr, 1), RSMERR_BAD_SEG_HNDL);
    EXPECT_EQ(rsm_memseg_import_put(h, 0, nullptr, 1), RSMERR_BAD_ADDR);
    EXPECT_EQ(rsm_memseg_import_get(h, -1, nullptr, 1), RSMERR_BAD_ADDR);
    EXPECT_EQ(rsm_memseg_import_put(h, -1, data, 1), RSMERR_BAD_OFFSET);
    EXPECT_EQ(rsm_memseg_import_get(h, size, data, 1), RSMERR_BAD_OFFSET);
    EXPECT_EQ(rsm_memseg_import_get(h, size, data, 0), RSM_SUCCESS);
    for (const std::size_t length : {std::size_t{2}, ~std::size_t{0}, ~std::size_t{0} / 2 + 1,
                                     ~std::size_t{0} - memory.size() + 2}) {
        for (const int result : {rsm_memseg_import_put(h, size - 1, data, length),
                                 rsm_memseg_import_get(h, size - 1, data, length)})
            EXPECT_TRUE(result == RSMERR_BAD_OFFSET || result == RSMERR_BAD_LENGTH)
                << length << ": " << result;
    }
}

TEST_F(ImportPutGet, I4_local_memory_that_is_not_there)
{
    // Either an error or a signal in the caller; never anything in the kernel.
    const Pages hole(1, PROT_NONE);
    Child child([&](Link &) {
        Controller own;
        ImportSegment h(own, seg.id());
        ASSERT_EQ(h.init_barrier(), RSM_SUCCESS);
        EXPECT_EQ(rsm_memseg_import_put(h, 0, hole.data(), 64), RSMERR_BAD_ADDR);
    });
    const int status = child.wait();
    EXPECT_TRUE((WIFEXITED(status) && WEXITSTATUS(status) == 0) ||
                (WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV))
        << status;
}

TEST_F(ImportPutGet, I5_implicit_mode_needs_a_barrier)
{
    ImportSegment h(ctl, seg.id());
    std::uint64_t value = 5;
    EXPECT_EQ(h.put64(0, 1), RSMERR_BARRIER_UNINITIALIZED);
    EXPECT_EQ(h.get64(0, &value), RSMERR_BARRIER_UNINITIALIZED);
    EXPECT_EQ(rsm_memseg_import_put(h, 0, &value, 8), RSMERR_BARRIER_UNINITIALIZED);
    EXPECT_EQ(rsm_memseg_import_get(h, 0, &value, 8), RSMERR_BARRIER_UNINITIALIZED);
    EXPECT_EQ(value, 5u);
    EXPECT_EQ(memory.at(0), 0u);
    // every other check comes first
    EXPECT_EQ(h.put64(static_cast<off_t>(memory.size()), 1), RSMERR_BAD_OFFSET);
    EXPECT_EQ(h.put64(4, 1), RSMERR_BAD_MEM_ALIGNMENT);
    EXPECT_EQ(h.explicit_mode(), RSM_SUCCESS);
    EXPECT_EQ(h.put64(0, 2), RSM_SUCCESS);
    EXPECT_EQ(h.get64(0, &value), RSM_SUCCESS);
    EXPECT_EQ(value, 2u);
}

TEST_F(ImportPutGet, I6_rights_of_the_connection)
{
    memory.at(0) = 11;
    std::uint64_t value = 0;
    ImportSegment reader(ctl, seg.id(), RSM_PERM_READ);
    ASSERT_EQ(reader.init_barrier(), RSM_SUCCESS);
    EXPECT_EQ(reader.get64(0, &value), RSM_SUCCESS);
    EXPECT_EQ(value, 11u);
    EXPECT_EQ(reader.put64(0, 12), RSMERR_PERM_DENIED);
    EXPECT_EQ(rsm_memseg_import_put(reader, 0, &value, 3), RSMERR_PERM_DENIED);
    EXPECT_EQ(reader.put64(static_cast<off_t>(memory.size()), 12), RSMERR_PERM_DENIED);

    ImportSegment writer(ctl, seg.id(), RSM_PERM_WRITE);
    ASSERT_EQ(writer.init_barrier(), RSM_SUCCESS);
    EXPECT_EQ(writer.put64(0, 13), RSM_SUCCESS);
    EXPECT_EQ(memory.at(0), 13u);
    EXPECT_EQ(writer.get64(0, &value), RSMERR_PERM_DENIED);
    EXPECT_EQ(rsm_memseg_import_get(writer, 0, &value, 3), RSMERR_PERM_DENIED);
    EXPECT_EQ(value, 11u);
    std::uint8_t byte = 9;
    std::uint16_t word = 9;
    std::uint32_t dword = 9;
    EXPECT_EQ(rsm_memseg_import_put8(reader, 0, &byte, 1), RSMERR_PERM_DENIED);
    EXPECT_EQ(rsm_memseg_import_put16(reader, 0, &word, 1), RSMERR_PERM_DENIED);
    EXPECT_EQ(rsm_memseg_import_put32(reader, 0, &dword, 1), RSMERR_PERM_DENIED);
    EXPECT_EQ(rsm_memseg_import_get8(writer, 0, &byte, 1), RSMERR_PERM_DENIED);
    EXPECT_EQ(rsm_memseg_import_get16(writer, 0, &word, 1), RSMERR_PERM_DENIED);
    EXPECT_EQ(rsm_memseg_import_get32(writer, 0, &dword, 1), RSMERR_PERM_DENIED);
    EXPECT_EQ(memory.at(0), 13u);
}

TEST_F(ImportPutGet, I6_mapping_with_fewer_rights_than_the_connection)
{
    ImportSegment h(ctl, seg.id());
    ASSERT_EQ(h.init_barrier(), RSM_SUCCESS);
    for (const rsm_permission_t rights : {0u, 0400u, 0200u}) {
        ASSERT_EQ(h.map(memory.size(), 0, rights), RSM_SUCCESS);
        std::uint64_t value = 0;
        const int put = h.put64(0, 21);
        EXPECT_TRUE(put == RSM_SUCCESS || put == RSMERR_PERM_DENIED) << put;
        const int get = h.get64(0, &value);
        EXPECT_TRUE(get == RSM_SUCCESS || get == RSMERR_PERM_DENIED) << get;
        ASSERT_EQ(h.unmap(), RSM_SUCCESS);
    }
}
