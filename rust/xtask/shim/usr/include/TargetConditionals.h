/* The macros that ring's C reads of Apple's header, for a machine without Xcode: every build here is for iOS. ring asks
   no more than "is this a phone"; whether it is a simulator changes nothing in it. */
#pragma once
#define TARGET_OS_MAC 1
#define TARGET_OS_IPHONE 1
#define TARGET_OS_IOS 1
#define TARGET_OS_OSX 0
#define TARGET_OS_TV 0
#define TARGET_OS_WATCH 0
#define TARGET_OS_VISION 0
