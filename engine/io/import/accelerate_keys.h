// The keys of Accelerate, and of the trainers that it launches (LLaMA-Factory, axolotl, Transformers), that say nothing of
// time or memory, and the fields that the others stand for. For the .cpp files of engine/io/import.
#pragma once

#include "engine/io/import/key_reader.h"

namespace roofscape::io {

// What nobody asked for, to the receipt.
void finish_accelerate_keys(KeyReader& keys);

}  // namespace roofscape::io
