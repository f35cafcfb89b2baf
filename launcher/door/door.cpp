#include "launcher/door/door.h"

#include <cstdio>
#include <new>

#include "engine/base/error.h"
#include "engine/run/console.h"
#include "engine/run/exit_code.h"
#include "launcher/door/terminal.h"
#include "launcher/door/verbs.h"

namespace loom {
namespace {

struct DoorVerb {
  const char* name;
  const char* about;
  int (*run)(const QStringList& words, const DoorOptions& options);
};
constexpr DoorVerb kVerbs[] = {
    {"submit", "Train a project on a host, or on this machine", submitVerb},
    {"runs", "List runs: state, best, where the model is", runsVerb},
    {"follow", "Look on at a run", followVerb},
    {"stop", "Stop a run, with a checkpoint", stopVerb},
    {"give-up", "Count a run as ended of which its host tells nothing", giveUpVerb},
    {"resume", "Go on with a run from its newest checkpoint", resumeVerb},
    {"fetch", "Bring the best checkpoint of a run here", fetchVerb},
    {"hosts", "List, check and add hosts", hostsVerb},
};

const DoorVerb* find(const QString& word) {
  for (const DoorVerb& each : kVerbs)
    if (word == QLatin1String(each.name)) return &each;
  return nullptr;
}

}  // namespace

bool isDoorVerb(const QString& word) {
  return find(word) != nullptr;
}

QString doorVerbs() {
  QString text = QStringLiteral("Without a window (gradloom VERB --help says more):\n");
  for (const DoorVerb& each : kVerbs)
    text += QStringLiteral("  gradloom %1 %2\n").arg(QLatin1String(each.name), -8).arg(QLatin1String(each.about));
  return text;
}

int runDoor(const QStringList& words, const DoorOptions& options) {
  const Interrupts interrupts;
  try {
    const DoorVerb* const verb = words.isEmpty() ? nullptr : find(words.front());
    if (!verb) throwError(ErrorCode::badArgument, "no verb is named.\n{}", doorVerbs().toStdString());
    const int code = verb->run(words.mid(1), options);
    std::fflush(stdout);
    return code;
  } catch (const Error& error) {
    return tellError("gradloom", error);
  } catch (const std::bad_alloc&) {
    return tellError("gradloom", Error(ErrorCode::device, "there is not enough memory"));
  } catch (const std::exception& fault) {
    return tellError("gradloom", Error(ErrorCode::internal, fault.what()));
  }
}

bool Words::read(const QString& verb, const QStringList& words) {
  parser.addOption({{"h", "help"}, "This help."});
  if (!parser.parse(QStringList{"gradloom " + verb} + words))
    throwError(ErrorCode::badArgument, "gradloom {}: {}", verb.toStdString(), parser.errorText().toStdString());
  if (!parser.isSet("help")) return true;
  QString help = parser.helpText();
  // Qt names the program by its path and knows no verbs.
  const qsizetype begin = help.indexOf(": ") + 2, end = help.indexOf('\n');
  const QString use = help.mid(begin, end - begin);
  help.replace(begin, end - begin,
               QStringLiteral("gradloom %1%2")
                   .arg(verb, use.contains(" [options]") ? use.mid(use.indexOf(" [options]")) : QString()));
  std::fputs(help.toLocal8Bit().constData(), stdout);
  return false;
}

int Words::number(const char* option, int otherwise, int least) const {
  if (!has(option)) return otherwise;
  bool good = false;
  const int number = value(option).toInt(&good);
  if (!good || number < least)
    throwError(ErrorCode::badArgument, "--{} is '{}', but must be a whole number from {} up", option,
               value(option).toStdString(), least);
  return number;
}

QString Words::one(const char* what) const {
  if (positional().size() != 1)
    throwError(ErrorCode::badArgument, "{} {} were named, but one is wanted", positional().size(), what);
  return positional().front();
}

QString meantHost(const HostStore& hosts, const QString& text) {
  if (text == "local") return {};
  QStringList names{QStringLiteral("local")};
  for (const Host& each : hosts.hosts()) {
    if (each.id == text || each.name == text) return each.id;
    names << each.name;
  }
  throwError(ErrorCode::badArgument, "there is no host '{}'; there are {}. `gradloom hosts add USER@MACHINE` adds one",
             text.toStdString(), names.join(", ").toStdString());
}

void printJson(const Json& json) {
  std::puts(formatJson(json).c_str());
}

}  // namespace loom
