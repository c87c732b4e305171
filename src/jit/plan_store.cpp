// Opens the database for each query, in some tens of microseconds, because it may be removed while
// the process runs, and because a connection must not cross a fork.
#include "jit/plan_store.h"

#include <cstdlib>
#include <ctime>
#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include "jit/private_directory.h"
#include "support/log.h"
#include "support/no_fork.h"

namespace tulle::jit {

namespace {

constexpr const char* kFile = "plans.sqlite";
constexpr int kReaderPatience = 200, kWriterPatience = 3000;  // milliseconds

constexpr const char* kCreate =
    "CREATE TABLE IF NOT EXISTS plans2 (statements TEXT, tensors TEXT, operands TEXT, machine TEXT,"
    " schedule TEXT, seconds REAL, default_seconds REAL, report TEXT, made INTEGER,"
    " PRIMARY KEY (statements, tensors, operands, machine)) WITHOUT ROWID";
constexpr const char* kColumns =
    "statements, tensors, operands, machine, schedule, seconds, default_seconds, report, made";

bool is_damage(int code) { return code == SQLITE_CORRUPT || code == SQLITE_NOTADB; }

std::string text_at(sqlite3_stmt* row, int column) {
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(row, column));
  return text ? std::string(text, static_cast<size_t>(sqlite3_column_bytes(row, column))) : "";
}

StoredPlan plan_at(sqlite3_stmt* row) {
  return {text_at(row, 0),
          text_at(row, 1),
          text_at(row, 2),
          text_at(row, 3),
          text_at(row, 4),
          sqlite3_column_double(row, 5),
          sqlite3_column_double(row, 6),
          text_at(row, 7),
          sqlite3_column_int64(row, 8)};
}

}  // namespace

// An open database, which records the first error of its steps.
class PlanStore::Connection {
 public:
  Connection(const std::string& path, bool writes) {
    // Opens for writing even to read, where possible, because an interrupted transaction of a
    // killed writer has to be rolled back.
    const int flags = SQLITE_OPEN_READWRITE | (writes ? SQLITE_OPEN_CREATE : 0);
    code_ = sqlite3_open_v2(path.c_str(), &base_, flags, nullptr);
    if (base_) sqlite3_busy_timeout(base_, writes ? kWriterPatience : kReaderPatience);
    if (!writes) return;
    // A crash of the machine may damage the file, which is then recreated.
    run("PRAGMA synchronous=OFF");
    // Locks from the start: a transaction that reads first and then writes may have to abort.
    run("BEGIN IMMEDIATE");
    run(kCreate);
  }
  ~Connection() { sqlite3_close_v2(base_); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void run(const std::string& statement) {
    run(statement, {}, [](sqlite3_stmt*) {});
  }
  // Binds these texts to the first parameters and calls `use` with every row.
  template <typename Use>
  void run(const std::string& statement, const std::vector<std::string>& texts, const Use& use,
           const StoredPlan* plan = nullptr) {
    if (code_ != SQLITE_OK) return;
    sqlite3_stmt* prepared = nullptr;
    code_ = sqlite3_prepare_v2(base_, statement.c_str(), -1, &prepared, nullptr);
    if (code_ != SQLITE_OK) return;
    int at = 0;
    auto bind = [&](const std::string& text) {
      sqlite3_bind_text(prepared, ++at, text.data(), static_cast<int>(text.size()), SQLITE_STATIC);
    };
    for (const std::string& text : texts) bind(text);
    if (plan) {
      sqlite3_bind_double(prepared, ++at, plan->seconds);
      sqlite3_bind_double(prepared, ++at, plan->default_seconds);
      bind(plan->report);
      sqlite3_bind_int64(prepared, ++at, plan->made);
    }
    int step = SQLITE_ROW;
    while ((step = sqlite3_step(prepared)) == SQLITE_ROW) use(prepared);
    if (step != SQLITE_DONE) code_ = step;
    sqlite3_finalize(prepared);
  }

  int changes() const { return sqlite3_changes(base_); }
  int code() const { return code_ & 0xff; }
  std::string problem() const { return sqlite3_errstr(code_); }

 private:
  sqlite3* base_ = nullptr;
  int code_ = SQLITE_OK;
};

namespace {

// Whether a file exists that only the user can write. Otherwise `problem` describes what exists.
bool is_there(const std::string& directory, std::string& problem) {
  const Descriptor folder = open_private_directory(directory, problem);
  if (!folder) return false;
  struct stat status;
  if (fstatat(folder.number(), kFile, &status, AT_SYMLINK_NOFOLLOW) != 0) return false;
  if (is_private_file(folder, kFile)) return true;
  problem = concat(kFile, " is not a regular file that only this user can write");
  return false;
}

}  // namespace

std::string PlanStore::path() const { return directory_.empty() ? "" : directory_ + "/" + kFile; }

void PlanStore::complain(const std::string& what) {
  if (!has_complained_.exchange(true)) TULLE_LOG(Info, "tuned plans in ", path(), ": ", what);
}

std::optional<StoredPlan> PlanStore::find(const StoredPlan& wanted) {
  if (directory_.empty() || access(path().c_str(), F_OK) != 0) return std::nullopt;
  const NoFork no_fork;
  std::string problem;
  if (!is_there(directory_, problem)) {
    if (!problem.empty()) complain(problem);
    return std::nullopt;
  }
  std::optional<StoredPlan> found;
  Connection base(path(), false);
  base.run(concat("SELECT ", kColumns,
                  " FROM plans2 WHERE statements=? AND tensors=? AND operands=? AND machine=?"),
           {wanted.statements, wanted.tensors, wanted.operands, wanted.machine},
           [&](sqlite3_stmt* row) { found = plan_at(row); });
  if (base.code() != SQLITE_OK) complain(base.problem());
  return base.code() == SQLITE_OK ? found : std::nullopt;
}

bool PlanStore::store(const StoredPlan& plan) {
  if (directory_.empty()) return false;
  const NoFork no_fork;
  std::string problem;
  if (!is_there(directory_, problem) && !problem.empty()) {
    complain(problem);
    return false;
  }
  const std::string insert =
      concat("INSERT OR REPLACE INTO plans2 (", kColumns, ") VALUES (?,?,?,?,?,?,?,?,?)");
  for (const bool again : {false, true}) {
    Connection base(path(), true);
    StoredPlan dated = plan;
    dated.made = std::time(nullptr);
    base.run(
        insert, {plan.statements, plan.tensors, plan.operands, plan.machine, plan.schedule},
        [](sqlite3_stmt*) {}, &dated);
    base.run("COMMIT");
    if (base.code() == SQLITE_OK) return true;
    complain(base.problem());
    if (again || !is_damage(base.code())) return false;
    // Removes an unreadable database.
    unlink(path().c_str());
    unlink((path() + "-journal").c_str());
  }
  return false;
}

std::vector<StoredPlan> PlanStore::list() {
  std::vector<StoredPlan> found;
  std::string problem;
  const NoFork no_fork;
  if (directory_.empty() || !is_there(directory_, problem)) return found;
  Connection base(path(), false);
  base.run(concat("SELECT ", kColumns, " FROM plans2 ORDER BY made DESC"), {},
           [&](sqlite3_stmt* row) { found.push_back(plan_at(row)); });
  if (base.code() != SQLITE_OK) complain(base.problem());
  return found;
}

int64_t PlanStore::clear() {
  std::string problem;
  const NoFork no_fork;
  if (directory_.empty() || !is_there(directory_, problem)) return 0;
  int64_t count = 0;
  {
    Connection base(path(), true);
    base.run("DELETE FROM plans2");
    count = base.changes();
    base.run("COMMIT");
    if (base.code() == SQLITE_OK) return count;
    complain(base.problem());
    if (!is_damage(base.code())) return 0;
  }
  unlink(path().c_str());
  return 0;
}

}  // namespace tulle::jit
