#pragma once
// The settings of runs as a person reads them: with the catalogue's defaults where the run's file is silent, under the
// catalogue's labels.
#include <QList>
#include <QString>
#include <QStringList>

#include "launcher/store/run_record.h"

namespace loom {

// `flat` ("optimizer.learning_rate" -> 0.1, as RunRecord has it) with every field of the run, its optimizer, schedule
// and warm-up. Empty stays empty: nothing is known of a run that has not begun.
Json withDefaults(const Json& flat);

// "optimizer.learning_rate" -> "Learning rate", "optimizer.name" -> "Optimizer".
QString labelOfSetting(const QString& key);
// As a cell shows it: 0.1, 4,096, LARS, "All ranks" for "synchronised", "–" for what is null.
QString textOfSetting(const QString& key, const Json& value);

// Keys that somebody set and that do not mean the same in all runs of which settings are known, in the order of the
// first that has them. `given`: of each run as its record has them.
QStringList differingSettings(const QList<Json>& given);

}  // namespace loom
