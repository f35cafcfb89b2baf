#pragma once
// The verbs of the door, each in its file: they read their words, ask, and answer an exit code or throw Error.
#include <QCommandLineParser>

#include "launcher/door/door.h"
#include "launcher/hosts/host_store.h"

namespace loom {

struct Words {
  QCommandLineParser parser;
  // Declares --help; `use`: "PROJECT --host NAME". Throws Error(badArgument) for what cannot be understood; false after
  // --help.
  explicit Words(const QString& about) { parser.setApplicationDescription(about); }
  bool read(const QString& verb, const QStringList& words);
  QString value(const char* option) const { return parser.value(QLatin1String(option)); }
  bool has(const char* option) const { return parser.isSet(QLatin1String(option)); }
  // A whole number from `least` up; `otherwise` where it is not given.
  int number(const char* option, int otherwise, int least = 1) const;
  QStringList positional() const { return parser.positionalArguments(); }
  // The one positional argument that there must be.
  QString one(const char* what) const;
};

int submitVerb(const QStringList& words, const DoorOptions& options);
int hostsVerb(const QStringList& words, const DoorOptions& options);
int runsVerb(const QStringList& words, const DoorOptions& options);
int stopVerb(const QStringList& words, const DoorOptions& options);
int giveUpVerb(const QStringList& words, const DoorOptions& options);
int resumeVerb(const QStringList& words, const DoorOptions& options);
int followVerb(const QStringList& words, const DoorOptions& options);
int fetchVerb(const QStringList& words, const DoorOptions& options);

// By its name or its id. "local" and this machine's own words are the empty id. Throws Error(badArgument) with the
// names there are.
QString meantHost(const HostStore& hosts, const QString& text);
// One JSON value on standard output.
void printJson(const Json& json);

}  // namespace loom
