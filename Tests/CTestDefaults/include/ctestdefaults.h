#ifndef CTESTDEFAULTS_H
#define CTESTDEFAULTS_H

/// The number of test cases that run at once, unless the environment says otherwise.
#define CTESTDEFAULTS_WIDTH "16"

#endif
