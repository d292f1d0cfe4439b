#include "pipeline/batch/interrupt.h"

#include <semaphore.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <mutex>
#include <thread>

#include "pipeline/batch/output.h"

namespace imgpipe {
namespace {

std::atomic<int> caught{0}, second{0};
sem_t impatient;

extern "C" void on_signal(int number) {
  int none = 0;
  if (caught.compare_exchange_strong(none, number)) return;
  second = number;
  sem_post(&impatient);  // a handler may do little else
}

void end_when_impatient() {
  while (sem_wait(&impatient) != 0) {
  }
  remove_temporaries();
  _exit(128 + second);
}

void handle(int number, void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  sigaction(number, &action, nullptr);
}

bool is_ignored(int number) {
  struct sigaction action {};
  return sigaction(number, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

}  // namespace

void catch_signals() {
  static std::once_flag once;
  std::call_once(once, [] {
    sem_init(&impatient, 0, 0);
    std::thread(end_when_impatient).detach();
    handle(SIGINT, on_signal);
    handle(SIGTERM, on_signal);
    if (!is_ignored(SIGHUP)) handle(SIGHUP, on_signal);  // nohup ignores it
    handle(SIGPIPE, SIG_IGN);
    handle(SIGXFSZ, SIG_IGN);
  });
}

int caught_signal() { return caught; }

}  // namespace imgpipe
