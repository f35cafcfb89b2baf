// gpu_door DATA LOOM VERB...: the launcher's door for scripts without the IDE around it, hence without Qt's windows,
// for the kit. DATA: the folder of the list of runs; LOOM: the program that trains.
#include "launcher/door/door.h"

#include <QCoreApplication>
#include <csignal>
#include <cstdio>

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);  // a host that is gone is an error to be told
  const QCoreApplication application(argc, argv);
  const QStringList words = QCoreApplication::arguments().mid(1);
  if (words.size() < 3) {
    std::fprintf(stderr, "usage: gpu_door DATA LOOM VERB...\n");
    return 2;
  }
  return loom::runDoor(words.mid(2), {.dataFolder = words[0], .program = words[1]});
}
