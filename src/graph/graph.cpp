#include "wavegate/graph/graph.h"
