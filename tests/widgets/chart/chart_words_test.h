#pragma once

int testChartWords(int argc, char** argv);
