// The engine on top of LLVM's ORC and JITLink, with one JITDylib per object.
#include "jit/engine.h"

#include <atomic>
#include <map>
#include <mutex>

#include "llvm/ExecutionEngine/Orc/AbsoluteSymbols.h"
#include "llvm/ExecutionEngine/Orc/Core.h"
#include "llvm/ExecutionEngine/Orc/ObjectLinkingLayer.h"
#include "llvm/ExecutionEngine/Orc/SelfExecutorProcessControl.h"
#include "llvm/Support/MemoryBuffer.h"

#include "support/check.h"
#include "support/no_fork.h"

namespace tulle::jit {

namespace orc = llvm::orc;

namespace {

// Guards every engine. Locked inside NoFork, so that the child of a fork never inherits a session
// in an inconsistent state.
std::mutex& sessions_mutex() {
  static std::mutex mutex;
  return mutex;
}

std::atomic<int64_t> loaded_objects = 0, loaded_bytes = 0;

// Raises an LLVM error as an InternalError.
void require(llvm::Error error, const char* doing) {
  if (error) internal_error(doing, ": ", llvm::toString(std::move(error)));
}

template <typename T>
T require(llvm::Expected<T> value, const char* doing) {
  if (!value) internal_error(doing, ": ", llvm::toString(value.takeError()));
  return std::move(*value);
}

std::unique_ptr<orc::ExecutorProcessControl> this_process() {
  return require(orc::SelfExecutorProcessControl::Create(
                     nullptr, std::make_unique<orc::InPlaceTaskDispatcher>()),
                 "starting the JIT");
}

}  // namespace

struct Engine::Session {
  orc::ExecutionSession session{this_process()};
  orc::ObjectLinkingLayer linker{session};
  orc::JITDylib& imports{session.createBareJITDylib("imports")};
  uint64_t objects = 0;
  std::string problems;  // reported by ORC besides the returned error

  ~Session() { llvm::consumeError(session.endSession()); }
};

class Engine::Object final : public LoadedObject {
 public:
  Object(std::shared_ptr<Session> owner, orc::JITDylib& library, int64_t bytes)
      : owner_(std::move(owner)), library_(library), bytes_(bytes) {
    ++loaded_objects;
    loaded_bytes += bytes_;
  }

  ~Object() override {
    const NoFork no_fork;
    const std::lock_guard lock(sessions_mutex());
    llvm::consumeError(owner_->session.removeJITDylib(library_));
    // Kernel names are interned; removes those without users.
    owner_->session.getSymbolStringPool()->clearDeadEntries();
    owner_.reset();
    --loaded_objects;
    loaded_bytes -= bytes_;
  }

  void resolve(const std::vector<std::string>& kernels) {
    orc::ExecutionSession& session = owner_->session;
    orc::SymbolLookupSet wanted;
    for (const std::string& name : kernels) wanted.add(session.intern(name));
    owner_->problems.clear();
    auto found = session.lookup({{&library_, orc::JITDylibLookupFlags::MatchAllSymbols}}, wanted);
    if (!found) {
      const std::string error = llvm::toString(found.takeError());
      internal_error("loading kernels: ", error, "\n", owner_->problems);
    }
    for (const auto& [name, definition] : *found) {
      kernels_[(*name).str()] = definition.getAddress().toPtr<loop::KernelFunction>();
    }
  }

  loop::KernelFunction kernel(const std::string& name) const override {
    const auto found = kernels_.find(name);
    TULLE_CHECK(found != kernels_.end(), "the kernel ", name,
                " was not requested when its object was loaded");
    return found->second;
  }

  int64_t bytes() const override { return bytes_; }

 private:
  std::shared_ptr<Session> owner_;
  orc::JITDylib& library_;
  int64_t bytes_;
  std::map<std::string, loop::KernelFunction> kernels_;
};

LoadedTotals loaded_totals() { return {loaded_objects, loaded_bytes}; }

Engine::Engine(const Symbols& imports) {
  const NoFork no_fork;
  const std::lock_guard lock(sessions_mutex());
  session_ = std::make_shared<Session>();
  session_->session.setErrorReporter([session = session_.get()](llvm::Error error) {
    session->problems += llvm::toString(std::move(error)) + "\n";
  });
  orc::SymbolMap symbols;
  for (const auto& [name, pointer] : imports) {
    symbols[session_->session.intern(name)] = {orc::ExecutorAddr::fromPtr(pointer),
                                               llvm::JITSymbolFlags::Exported};
  }
  require(session_->imports.define(orc::absoluteSymbols(std::move(symbols))),
          "defining the JIT's imports");
}

Engine::~Engine() {
  const NoFork no_fork;
  const std::lock_guard lock(sessions_mutex());
  session_.reset();
}

std::shared_ptr<const LoadedObject> Engine::load(std::span<const char> object,
                                                 const std::vector<std::string>& kernels) {
  std::shared_ptr<Object> loaded;  // released only after the lock
  const NoFork no_fork;
  const std::lock_guard lock(sessions_mutex());
  orc::JITDylib& library =
      session_->session.createBareJITDylib(concat("object", session_->objects++));
  loaded = std::make_shared<Object>(session_, library, static_cast<int64_t>(object.size()));
  library.addToLinkOrder(session_->imports);
  auto bytes = llvm::MemoryBuffer::getMemBufferCopy(llvm::StringRef(object.data(), object.size()),
                                                    "kernels");
  require(session_->linker.add(library, std::move(bytes)), "reading an object file");
  loaded->resolve(kernels);
  return loaded;
}

}  // namespace tulle::jit
