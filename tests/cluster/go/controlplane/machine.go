package main

import (
	"os"
	"strconv"
	"strings"

	cadvisorapi "github.com/google/cadvisor/info/v1"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	cadvisortest "k8s.io/kubernetes/pkg/kubelet/cadvisor/testing"
	"k8s.io/kubernetes/pkg/kubelet/cm"
)

const gpu = v1.ResourceName("nvidia.com/gpu")

// machine is the hardware and the kernel that the kubelet sees. The fake it
// replaces has no boot id, no machine id and no system UUID at all.
type machine struct {
	cadvisortest.Fake
	bootID, machineID, systemUUID string
	kernelVersion, osImage        string
	cores                         int
	memory                        uint64
}

func (m *machine) MachineInfo() (*cadvisorapi.MachineInfo, error) {
	info, err := m.Fake.MachineInfo()
	if err != nil {
		return nil, err
	}
	seen := *info
	seen.BootID, seen.MachineID, seen.SystemUUID = m.bootID, m.machineID, m.systemUUID
	seen.NumCores, seen.MemoryCapacity = m.cores, m.memory
	return &seen, nil
}

func (m *machine) VersionInfo() (*cadvisorapi.VersionInfo, error) {
	return &cadvisorapi.VersionInfo{KernelVersion: m.kernelVersion, ContainerOsVersion: m.osImage}, nil
}

// devices is the container manager as far as it shows in a Node: the GPUs of
// a device plugin, of which a file can take some for unhealthy, and what is
// reserved for the system, by which allocatable is less than capacity.
type devices struct {
	cm.ContainerManager
	gpus     int
	healthy  string // the file with the number of healthy GPUs, if it exists
	reserved v1.ResourceList
}

func (d *devices) GetDevicePluginResourceCapacity() (v1.ResourceList, v1.ResourceList, []string) {
	healthy := d.gpus
	if text, err := os.ReadFile(d.healthy); err == nil {
		if n, err := strconv.Atoi(strings.TrimSpace(string(text))); err == nil {
			healthy = n
		}
	}
	return gpus(d.gpus), gpus(healthy), nil
}

func (d *devices) GetNodeAllocatableReservation() v1.ResourceList {
	return d.reserved
}

func gpus(n int) v1.ResourceList {
	if n < 0 {
		return nil // a machine without a device plugin, not one with 0 GPUs
	}
	return v1.ResourceList{gpu: *resource.NewQuantity(int64(n), resource.DecimalSI)}
}
