// Marks the symbols that libtulle exports; all others are hidden.
#pragma once

#define TULLE_API __attribute__((visibility("default")))
