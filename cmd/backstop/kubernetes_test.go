package main

import (
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"
)

// The parts of the objects of Kubernetes that the manifests use; a misspelled
// key is one that they do not have.
type (
	kubeMeta struct {
		Name        string            `yaml:"name"`
		Labels      map[string]string `yaml:"labels"`
		Annotations map[string]string `yaml:"annotations"`
	}
	KubeHead struct {
		APIVersion string   `yaml:"apiVersion"`
		Kind       string   `yaml:"kind"`
		Metadata   kubeMeta `yaml:"metadata"`
	}
	kubeSelector struct {
		MatchLabels map[string]string `yaml:"matchLabels"`
	}
	kubeConfigMap struct {
		KubeHead `yaml:",inline"`
		Data     map[string]string `yaml:"data"`
	}
	kubeSecret struct {
		KubeHead   `yaml:",inline"`
		Type       string            `yaml:"type"`
		StringData map[string]string `yaml:"stringData"`
	}
	kubeServiceAccount struct {
		KubeHead  `yaml:",inline"`
		Automount bool `yaml:"automountServiceAccountToken"`
	}
	kubePort struct {
		Name          string `yaml:"name"`
		ContainerPort int    `yaml:"containerPort"`
		Protocol      string `yaml:"protocol"`
	}
	kubeProbe struct {
		HTTPGet struct {
			Path string `yaml:"path"`
			Port string `yaml:"port"`
		} `yaml:"httpGet"`
		Period    int `yaml:"periodSeconds"`
		Timeout   int `yaml:"timeoutSeconds"`
		Threshold int `yaml:"failureThreshold"`
	}
	kubeContainer struct {
		Name       string   `yaml:"name"`
		Image      string   `yaml:"image"`
		PullPolicy string   `yaml:"imagePullPolicy"`
		Args       []string `yaml:"args"`
		EnvFrom    []struct {
			SecretRef struct {
				Name string `yaml:"name"`
			} `yaml:"secretRef"`
		} `yaml:"envFrom"`
		Ports     []kubePort `yaml:"ports"`
		Startup   kubeProbe  `yaml:"startupProbe"`
		Liveness  kubeProbe  `yaml:"livenessProbe"`
		Readiness kubeProbe  `yaml:"readinessProbe"`
		Resources struct {
			Requests map[string]string `yaml:"requests"`
			Limits   map[string]string `yaml:"limits"`
		} `yaml:"resources"`
		Security struct {
			Escalation   bool `yaml:"allowPrivilegeEscalation"`
			ReadOnly     bool `yaml:"readOnlyRootFilesystem"`
			Capabilities struct {
				Drop []string `yaml:"drop"`
			} `yaml:"capabilities"`
		} `yaml:"securityContext"`
		Mounts []struct {
			Name     string `yaml:"name"`
			Path     string `yaml:"mountPath"`
			ReadOnly bool   `yaml:"readOnly"`
		} `yaml:"volumeMounts"`
	}
	kubeDeployment struct {
		KubeHead `yaml:",inline"`
		Spec     struct {
			Replicas int `yaml:"replicas"`
			Strategy struct {
				Type    string `yaml:"type"`
				Rolling struct {
					Unavailable int `yaml:"maxUnavailable"`
					Surge       int `yaml:"maxSurge"`
				} `yaml:"rollingUpdate"`
			} `yaml:"strategy"`
			Selector kubeSelector `yaml:"selector"`
			Template struct {
				Metadata kubeMeta `yaml:"metadata"`
				Spec     struct {
					Account      string `yaml:"serviceAccountName"`
					Automount    bool   `yaml:"automountServiceAccountToken"`
					ServiceLinks bool   `yaml:"enableServiceLinks"`
					Grace        int    `yaml:"terminationGracePeriodSeconds"`
					Security     struct {
						NonRoot bool              `yaml:"runAsNonRoot"`
						User    int               `yaml:"runAsUser"`
						Group   int               `yaml:"runAsGroup"`
						FSGroup int               `yaml:"fsGroup"`
						Seccomp map[string]string `yaml:"seccompProfile"`
					} `yaml:"securityContext"`
					Spread []struct {
						MaxSkew     int          `yaml:"maxSkew"`
						TopologyKey string       `yaml:"topologyKey"`
						Otherwise   string       `yaml:"whenUnsatisfiable"`
						Selector    kubeSelector `yaml:"labelSelector"`
					} `yaml:"topologySpreadConstraints"`
					Containers []kubeContainer `yaml:"containers"`
					Volumes    []struct {
						Name      string `yaml:"name"`
						ConfigMap struct {
							Name string `yaml:"name"`
						} `yaml:"configMap"`
					} `yaml:"volumes"`
				} `yaml:"spec"`
			} `yaml:"template"`
		} `yaml:"spec"`
	}
	kubeService struct {
		KubeHead `yaml:",inline"`
		Spec     struct {
			Selector map[string]string `yaml:"selector"`
			Ports    []struct {
				Name     string `yaml:"name"`
				Port     int    `yaml:"port"`
				To       string `yaml:"targetPort"`
				Protocol string `yaml:"protocol"`
			} `yaml:"ports"`
		} `yaml:"spec"`
	}
	kubeBudget struct {
		KubeHead `yaml:",inline"`
		Spec     struct {
			MinAvailable int          `yaml:"minAvailable"`
			Selector     kubeSelector `yaml:"selector"`
		} `yaml:"spec"`
	}
	kubePeer struct {
		Pods       kubeSelector `yaml:"podSelector"`
		Namespaces kubeSelector `yaml:"namespaceSelector"`
		Block      struct {
			CIDR   string   `yaml:"cidr"`
			Except []string `yaml:"except"`
		} `yaml:"ipBlock"`
	}
	kubeRule struct {
		From  []kubePeer `yaml:"from"`
		To    []kubePeer `yaml:"to"`
		Ports []struct {
			Port     int    `yaml:"port"`
			Protocol string `yaml:"protocol"`
		} `yaml:"ports"`
	}
	kubePolicy struct {
		KubeHead `yaml:",inline"`
		Spec     struct {
			Pods    kubeSelector `yaml:"podSelector"`
			Types   []string     `yaml:"policyTypes"`
			Ingress []kubeRule   `yaml:"ingress"`
			Egress  []kubeRule   `yaml:"egress"`
		} `yaml:"spec"`
	}
)

func TestTheKubernetesManifestsBelongTogether(t *testing.T) {
	var (
		m kubeConfigMap
		s kubeSecret
		a kubeServiceAccount
		d kubeDeployment
		v kubeService
		b kubeBudget
		n kubePolicy
		k struct {
			APIVersion string   `yaml:"apiVersion"`
			Kind       string   `yaml:"kind"`
			Resources  []string `yaml:"resources"`
		}
	)
	files := map[string]any{"configmap": &m, "secret": &s, "serviceaccount": &a, "deployment": &d, "service": &v, "poddisruptionbudget": &b, "networkpolicy": &n, "kustomization": &k}
	for name, into := range files {
		strictly(t, "kubernetes/"+name+".yaml", into)
		if name != "kustomization" && !slices.Contains(k.Resources, name+".yaml") && k.Kind != "" {
			t.Errorf("kustomization.yaml does not list %s.yaml", name)
		}
	}
	found, err := filepath.Glob(filepath.Join(deploy, "kubernetes", "*"))
	if err != nil || len(found) != len(files) || len(k.Resources) != len(files)-1 {
		t.Errorf("files %v, resources %v, %v", found, k.Resources, err)
	}
	text := m.Data["backstop.yaml"]
	var given []string
	for name := range s.StringData {
		given = append(given, name)
	}
	cfg := passesCheck(t, "configmap.yaml", text, given)
	pod := d.Spec.Template.Spec
	c := pod.Containers[0]
	outlives(t, "terminationGracePeriodSeconds", time.Duration(pod.Grace)*time.Second, cfg.Drain)
	if c.EnvFrom[0].SecretRef.Name != s.Metadata.Name || pod.Volumes[0].ConfigMap.Name != m.Metadata.Name || pod.Account != a.Metadata.Name || c.Mounts[0].Name != pod.Volumes[0].Name {
		t.Error("a name does not lead anywhere")
	}
	if file := parses(t, "deployment.yaml", c.Args); filepath.Dir(file) != c.Mounts[0].Path || m.Data[filepath.Base(file)] == "" {
		t.Errorf("%s is not in the mounted folder %s", file, c.Mounts[0].Path)
	}
	ports := map[string]int{}
	for _, p := range c.Ports {
		ports[p.Name] = p.ContainerPort
	}
	scrape := d.Spec.Template.Metadata.Annotations
	if ports["http"] != portOf(t, cfg.Listen) || ports["metrics"] != portOf(t, cfg.Metrics) || scrape["prometheus.io/port"] != strconv.Itoa(ports["metrics"]) {
		t.Errorf("ports %v, annotations %v", ports, scrape)
	}
	if v.Spec.Ports[0].To != "http" || n.Spec.Ingress[0].Ports[0].Port != ports["http"] || n.Spec.Ingress[1].Ports[0].Port != ports["metrics"] {
		t.Error("service or network policy name other ports")
	}
	for where, labels := range map[string]map[string]string{
		"deployment": d.Spec.Selector.MatchLabels, "service": v.Spec.Selector, "poddisruptionbudget": b.Spec.Selector.MatchLabels,
		"networkpolicy": n.Spec.Pods.MatchLabels, "spread": pod.Spread[0].Selector.MatchLabels,
	} {
		for name, value := range labels {
			if d.Spec.Template.Metadata.Labels[name] != value {
				t.Errorf("%s selects %s=%s, which the pods do not have", where, name, value)
			}
		}
		if len(labels) == 0 {
			t.Errorf("%s selects everything", where)
		}
	}
	if d.Spec.Replicas <= b.Spec.MinAvailable || d.Spec.Strategy.Rolling.Unavailable != 0 {
		t.Error("a drain of a node would wait for ever, or a rollout take the last pod away")
	}
	if x := c.Security; !pod.Security.NonRoot || x.Escalation || !x.ReadOnly || !slices.Equal(x.Capabilities.Drop, []string{"ALL"}) {
		t.Error("the container may do more than it needs")
	}
	if name := n.Spec.Egress[1].To[0].Block.Except; !slices.Contains(name, "169.254.0.0/16") {
		t.Error("the metadata service can be reached")
	}

	r := start(t, text)
	for probe, p := range map[string]kubeProbe{"startup": c.Startup, "liveness": c.Liveness, "readiness": c.Readiness} {
		if got := status(t, r.data+p.HTTPGet.Path, "10.1.2.3:3000"); got != http.StatusOK || p.HTTPGet.Port != "http" {
			t.Errorf("the %s probe at %s %s: %d", probe, p.HTTPGet.Port, p.HTTPGet.Path, got)
		}
	}
	if got := status(t, r.metrics+scrape["prometheus.io/path"], "10.1.2.3:9090"); got != http.StatusOK {
		t.Errorf("the scrape: %d", got)
	}
	if got := status(t, r.data+"/v1/models", "10.1.2.3:3000"); got != http.StatusUnauthorized {
		t.Errorf("without a key: %d", got)
	}
}
