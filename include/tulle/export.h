// Marks what libtulle exports; everything else in it is hidden.
#pragma once

#define TULLE_API __attribute__((visibility("default")))
