#pragma once
// How hosts are written: in the list, in the two lines of facts, in the chooser.
#include <QString>
#include <QStringList>

#include "launcher/hosts/host.h"

namespace loom {

struct HostReport;

QString kindText(const Host& host);     // "mpirun on 4 hosts", "Slurm, partition cpu"
QString ranksText(int ranks);           // "1 rank", "16 ranks"
QString addressText(const Host& host);  // "mara@head.atlas.example:2222"
// "mara@head.atlas.example by way of gate.lab.example, mpirun on a01 to a04, 8 ranks each"
QString placeText(const Host& host, const HostReport& report);
// "Checked today 14:04, took 3.4 s. Engine loom 0.3.1 in ~/.cache/gradloom."
QString checkedText(const HostReport& report);
// "1 failed, 1 warning, 8 passed"
QString countsText(const HostReport& report);

// Words as a person types them in one line, quoted where they hold spaces, and back.
QString joinWords(const QStringList& words);
QStringList splitWords(const QString& text);
// "a01 8" a line, and back; a line without a number is one rank.
QString joinPlaces(const QVector<RankPlace>& places);
QVector<RankPlace> splitPlaces(const QString& text);

}  // namespace loom
