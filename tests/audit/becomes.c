// Becomes another program by execve(), with the environment that it has.
#include <stdio.h>
#include <unistd.h>

extern char** environ;

int main(int count, char** words) {
  if (count < 2) return 2;
  execve(words[1], words + 1, environ);
  perror(words[1]);
  return 1;
}
