/* A machine of the test bed: namespaces of its own, and a way into them.
 *
 *   machine boot NAME HOSTS_FILE BOOT_ID_FILE MONOTONIC_SHIFT_NS
 *       says the process id of its init once it is up, and lives until its standard input ends.
 *   machine enter PID CLOCK_LIBRARY CLOCK_FILE COMMAND...
 *       runs a command there; signals go through, and so does its exit code.
 *
 * Nothing has a name that outlives it: when init ends, the kernel ends every process of the machine and takes
 * its network, its mounts and its clock down, however whoever made it has ended. */

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define NS_PER_S 1000000000LL
#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x80
#endif

static void fail(const char *what)
{
    fprintf(stderr, "%s: %s\n", what, strerror(errno));
    exit(1);
}

static void shift_clock(long long shift_ns)
{
    long long seconds = shift_ns / NS_PER_S, rest = shift_ns % NS_PER_S;
    if (rest < 0) {
        seconds -= 1;
        rest += NS_PER_S;
    }
    FILE *offsets = fopen("/proc/self/timens_offsets", "w");
    if (!offsets)
        fail("/proc/self/timens_offsets");
    fprintf(offsets, "monotonic %lld %lld\nboottime %lld %lld\n", seconds, rest, seconds, rest);
    if (fclose(offsets))
        fail("the clock's shift");
}

static void furnish(const char *name, const char *hosts, const char *boot_id)
{
    if (sethostname(name, strlen(name)))
        fail("sethostname");
    if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL))
        fail("private mounts");
    if (mount("proc", "/proc", "proc", 0, NULL))
        fail("/proc");
    if (mount("tmpfs", "/dev/shm", "tmpfs", 0, NULL))
        fail("/dev/shm");
    if (mount(hosts, "/etc/hosts", NULL, MS_BIND, NULL))
        fail("/etc/hosts");
    if (mount(boot_id, "/proc/sys/kernel/random/boot_id", NULL, MS_BIND, NULL))
        fail("boot_id");
}

static int boot(char **words)
{
    int told[2];
    char byte;
    if (unshare(CLONE_NEWNET | CLONE_NEWUTS | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWTIME))
        fail("unshare");
    shift_clock(atoll(words[3]));
    if (pipe2(told, O_CLOEXEC))
        fail("pipe");
    pid_t init = fork();
    if (init < 0)
        fail("fork");
    if (init == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        signal(SIGCHLD, SIG_IGN); /* orphans of the machine are reaped */
        close(told[0]);
        furnish(words[0], words[1], words[2]);
        if (write(told[1], "+", 1) != 1)
            fail("pipe");
        close(told[1]);
        while (read(0, &byte, 1) > 0 || errno == EINTR)
            errno = 0;
        exit(0);
    }
    close(told[1]);
    if (read(told[0], &byte, 1) == 1) {
        printf("%d\n", (int)init);
        fflush(stdout);
    }
    close(0); /* its end is init's to hear */
    int status;
    while (waitpid(init, &status, 0) < 0 && errno == EINTR)
        ;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 0;
}

static pid_t within;

static void pass_on(int number)
{
    if (within > 0)
        kill(within, number);
}

static void join_namespaces(const char *pid)
{
    static const char *const spaces[] = {"net", "uts", "pid", "time", "mnt"};
    enum { COUNT = sizeof spaces / sizeof *spaces };
    int doors[COUNT];
    char path[64], *here = getcwd(NULL, 0);
    for (int i = 0; i < COUNT; i++) { /* all doors first: behind the last of them is another /proc */
        snprintf(path, sizeof path, "/proc/%s/ns/%s", pid, spaces[i]);
        if ((doors[i] = open(path, O_RDONLY | O_CLOEXEC)) < 0)
            fail(path);
    }
    for (int i = 0; i < COUNT; i++)
        if (setns(doors[i], 0))
            fail(spaces[i]);
    if (here && chdir(here))
        fail(here);
    free(here);
}

static int enter(char **words)
{
    static const int passed[] = {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};
    enum { COUNT = sizeof passed / sizeof *passed };
    sigset_t held, before;
    join_namespaces(words[0]);
    sigemptyset(&held);
    for (int i = 0; i < COUNT; i++)
        sigaddset(&held, passed[i]);
    sigprocmask(SIG_BLOCK, &held, &before); /* none is lost before there is somebody to pass it on to */
    within = fork();
    if (within < 0)
        fail("fork");
    if (within == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        setenv("LD_PRELOAD", words[1], 1);
        setenv("STREAMGAUGE_MACHINE_CLOCK", words[2], 1);
        sigprocmask(SIG_SETMASK, &before, NULL);
        execvp(words[3], words + 3);
        fprintf(stderr, "%s: %s\n", words[3], strerror(errno));
        _exit(127);
    }
    for (int i = 0; i < COUNT; i++)
        signal(passed[i], pass_on);
    sigprocmask(SIG_SETMASK, &before, NULL);
    int status;
    while (waitpid(within, &status, 0) < 0 && errno == EINTR)
        ;
    if (WIFSIGNALED(status)) { /* as the command ended, so does this */
        signal(WTERMSIG(status), SIG_DFL);
        kill(getpid(), WTERMSIG(status));
        return 128 + WTERMSIG(status);
    }
    return WEXITSTATUS(status);
}

int main(int count, char **words)
{
    if (count == 6 && !strcmp(words[1], "boot"))
        return boot(words + 2);
    if (count >= 6 && !strcmp(words[1], "enter"))
        return enter(words + 2);
    fprintf(stderr, "machine boot NAME HOSTS_FILE BOOT_ID_FILE MONOTONIC_SHIFT_NS\n"
                    "machine enter PID CLOCK_LIBRARY CLOCK_FILE COMMAND...\n");
    return 2;
}
