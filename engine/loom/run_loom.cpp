#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <new>
#include <system_error>

#include "engine/base/error.h"
#include "engine/loom/verbs.h"
#include "engine/run/console.h"
#include "engine/run/exit_code.h"

namespace loom {
namespace {

int fail(const Error& error) {
  return tellError("loom", error);
}

}  // namespace

int runLoom(int count, const char* const* arguments, const std::atomic<bool>& stop) {
  CLI::App app{"Gradloom's training engine: trains what a .loom file draws.", "loom"};
  Session session{.stop = stop, .chosen = {}};
  app.require_subcommand(1);
  app.set_version_flag("--version", versionText());
  addTrain(app, session);
  addEvaluate(app, session);
  addPredict(app, session);
  addLook(app, session);
  addCheck(app, session);
  addPlan(app, session);
  addPresets(app, session);
  addRangeTest(app, session);
  addNoiseScale(app, session);
  addAdvise(app, session);
  addLandscape(app, session);
  addCatalogue(app, session);
  addImport(app, session);
  addExport(app, session);
  addData(app, session);
  addBench(app, session);
  addDoctor(app, session);
  addSearch(app, session);
  addSupervise(app, session);
  addAgent(app, session);
  app.add_subcommand("version", "The versions of loom and of the libraries it uses")->callback([&session] {
    session.chosen = [] {
      fmt::print("{}\n", versionText());
      return kExitDone;
    };
  });
  try {
    app.parse(count, arguments);
  } catch (const CLI::ParseError& fault) {
    if (fault.get_exit_code() == 0) return app.exit(fault);  // --help and --version
    app.exit(fault, std::cout, std::cerr);
    return exitCode(ErrorCode::badArgument);
  }
  try {
    const int code = session.chosen ? session.chosen() : exitCode(ErrorCode::badArgument);
    if (std::fflush(stdout) != 0 && errno == ENOSPC)
      throwError(ErrorCode::diskFull, "the output could not be written: the disk is full");
    return code;
  } catch (const Error& error) {
    return fail(error);
  } catch (const std::system_error& fault) {
    const bool full = fault.code().value() == ENOSPC || fault.code().value() == EDQUOT;
    return fail(Error(full ? ErrorCode::diskFull : ErrorCode::inputOutput,
                      fmt::format("the output could not be written: {}", fault.code().message())));
  } catch (const std::bad_alloc&) {
    return fail(Error(ErrorCode::device, "there is not enough memory"));
  } catch (const std::exception& fault) {
    return fail(Error(ErrorCode::internal, fault.what()));
  }
}

}  // namespace loom
