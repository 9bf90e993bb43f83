#pragma once

#include <cstdint>
#include <map>
#include <utility>

namespace wavegate::web {

/// Objects that the page knows by number. Number 0 is none, and no number is used twice.
template <typename T>
class Handles {
 public:
  uint32_t add(T object) {
    objects_.emplace(++last_, std::move(object));
    return last_;
  }
  /// Null if there is no such object.
  T* find(uint32_t number) {
    const auto found = objects_.find(number);
    return found == objects_.end() ? nullptr : &found->second;
  }
  void remove(uint32_t number) { objects_.erase(number); }

 private:
  std::map<uint32_t, T> objects_;
  uint32_t last_ = 0;
};

}  // namespace wavegate::web
