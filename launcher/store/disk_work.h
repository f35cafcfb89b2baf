#pragma once
// What waits for the disk, on a thread of its own: that may take a tenth of a second, and whoever wrote need not wait.
// Until it is done a crash of the machine, but none of the program, can lose what was written last. Any thread.
#include <QString>

namespace loom {

void syncSoon(const QString& file);            // what stands in it is on the disk
void checkpointSoon(const QString& database);  // what its write-ahead log holds stands in its file
void waitForDisk();                            // until all that was asked for is done

}  // namespace loom
