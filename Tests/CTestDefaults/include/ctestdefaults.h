#ifndef CTESTDEFAULTS_H
#define CTESTDEFAULTS_H

/// The number of test cases that run concurrently. The environment overrides it.
#define CTESTDEFAULTS_WIDTH "16"

#endif
