# The values that the tests in this folder hold, by scikit-learn 1.9.1 and scipy:
#   python3 -m venv v && v/bin/pip install scikit-learn && v/bin/python values.py
import numpy as np, warnings
from sklearn import metrics as M
from scipy import stats, optimize
warnings.simplefilter('ignore')
class L:
    def __init__(s, seed): s.s=seed
    def n(s, m):
        s.s=(s.s*1103515245+12345)%2147483648
        return (s.s>>16)%m
SK=[0,0,0,0,1,1,1,2,2,3]
def multi(n):
    g=L(7); T=[];S=[]
    for i in range(n):
        t=SK[g.n(10)]; raw=[1+g.n(1000) for _ in range(4)]; raw[t]+=g.n(1500)
        s=np.float32(sum(raw)); T.append(t); S.append([np.float32(r)/s for r in raw])
    return np.array(T), np.array(S,dtype=np.float32)
def binary(n):
    g=L(11);T=[];S=[]
    for i in range(n):
        t=int(g.n(3)==0); k=1+g.n(700)+(g.n(300) if t else 0)
        T.append(t);S.append(np.float32(k)/np.float32(1001))
    return np.array(T),np.array(S,dtype=np.float32)
def regression(n):
    g=L(13);T=[];P=[]
    for i in range(n):
        t=[];p=[]
        for k in range(2):
            a=np.float32(g.n(2000)-1000)/np.float32(8); t.append(a); p.append(a+np.float32(g.n(400)-200)/np.float32(16)+np.float32(k))
        T.append(t);P.append(p)
    return np.array(T,dtype=np.float64),np.array(P,dtype=np.float64)
def pr(k,v): print(f"{k:34s} {v!r}" if not isinstance(v,(list,np.ndarray)) else f"{k:34s} "+", ".join(f"{float(x):.10f}" for x in np.ravel(v)))
T,S=multi(500); S64=S.astype(np.float64); P=S.argmax(1)
pr('confusion',M.confusion_matrix(T,P)); 
p,r,f,s=M.precision_recall_fscore_support(T,P); pr('precision',p);pr('recall',r);pr('f1',f);pr('support',s)
for a in ('macro','weighted','micro'): pr(a,list(M.precision_recall_fscore_support(T,P,average=a)[:3]))
pr('accuracy',float(M.accuracy_score(T,P)))
for k in (2,3): pr(f'top{k}',float(M.top_k_accuracy_score(T,S64,k=k)))
N64=S64/S64.sum(1,keepdims=True)
pr('logloss',float(M.log_loss(T,N64)))
pr('auc ovr',[M.roc_auc_score(T==c,S64[:,c]) for c in range(4)])
pr('auc macro',float(M.roc_auc_score(T,N64,multi_class='ovr',average='macro')));pr('auc weighted',float(M.roc_auc_score(T,N64,multi_class='ovr',average='weighted')))
pr('ap',[M.average_precision_score(T==c,S64[:,c]) for c in range(4)])
def ece(conf,right,n=15):
    e=0
    for b in range(n):
        lo,hi=b/n,(b+1)/n; m=(conf>lo)&(conf<=hi)
        if m.any(): e+=m.mean()*abs(right[m].mean()-conf[m].mean())
    return e
pr('ece',float(ece(S64.max(1),T==P)))
def fitted(i):
    m=((i+1)*0x9e3779b97f4a7c15)%2**64
    m=(m^(m>>30))*0xbf58476d1ce4e5b9%2**64; m=(m^(m>>27))*0x94d049bb133111eb%2**64
    return m>>63==1
ls=np.log(S64)
def nll(t,ls=ls,T=T):
    z=ls/t; z=z-z.max(1,keepdims=True); return -(z[np.arange(len(T)),T]-np.log(np.exp(z).sum(1))).mean()
o=optimize.minimize_scalar(nll,bounds=(.05,20),method='bounded',options=dict(xatol=1e-12)); pr('temperature',[o.x,nll(1),o.fun])
F=np.array([fitted(i) for i in range(500)]); o=optimize.minimize_scalar(lambda t:nll(t,ls[F],T[F]),bounds=(.05,20),method='bounded',options=dict(xatol=1e-12))
z=ls[~F]/o.x; q=np.exp(z-z.max(1,keepdims=True)); q/=q.sum(1,keepdims=True); R=(T==P)[~F]
pr('trial',[F.sum(),o.x,nll(1,ls[~F],T[~F]),nll(o.x,ls[~F],T[~F]),ece(S64[~F].max(1),R),ece(q.max(1),R)])
ci=stats.binomtest(int((T==P).sum()),500).proportion_ci(.95,method='wilson'); pr('wilson',[ci.low,ci.high])
ci=stats.binomtest(0,30).proportion_ci(.95,method='wilson'); pr('wilson0/30',[ci.low,ci.high])
ci=stats.binomtest(30,30).proportion_ci(.95,method='wilson'); pr('wilson30/30',[ci.low,ci.high])
T,S=binary(400);S64=S.astype(np.float64);P=(S64>.5).astype(int)
print('binary');pr('confusion',M.confusion_matrix(T,P));pr('auc',float(M.roc_auc_score(T,S64)));pr('ap',float(M.average_precision_score(T,S64)));pr('logloss',float(M.log_loss(T,S64)))
p,r,f,s=M.precision_recall_fscore_support(T,P);pr('p',p);pr('r',r);pr('f',f)
fpr,tpr,th=M.roc_curve(T,S64,drop_intermediate=False);pr('roc',[len(fpr),fpr[20],tpr[20],th[20]])
pr('ece',float(ece(np.maximum(S64,1-S64),T==P)))
lz=np.stack([np.log(1-S64),np.log(S64)],1)
o=optimize.minimize_scalar(lambda t:nll(t,lz,T),bounds=(.05,20),method='bounded',options=dict(xatol=1e-12));pr('temperature',[o.x,nll(1,lz,T),o.fun])
T,S=regression(300)
print('regression');pr('r2',M.r2_score(T,S,multioutput='raw_values'));pr('r2 mean',float(M.r2_score(T,S)));pr('mae',M.mean_absolute_error(T,S,multioutput='raw_values'));pr('rmse',M.root_mean_squared_error(T,S,multioutput='raw_values'));pr('mse all',float(M.mean_squared_error(T,S)));pr('bias',(T-S).mean(0))
pr('mae all',float(M.mean_absolute_error(T,S)))
print('mcnemar');
for b,c in ((19,9),(3,0),(1200,1100)):
    pr(f'{b},{c}', [stats.binomtest(min(b,c),b+c).pvalue, stats.chi2.sf((abs(b-c)-1)**2/(b+c),1)])
# multi-label
g=L(17);T=[];S=[]
for i in range(200):
    t=[];s=[]
    for k in range(3):
        a=int(g.n(2+k)==0);kk=1+g.n(700)+(g.n(300) if a else 0);t.append(a);s.append(np.float32(kk)/np.float32(1001))
    T.append(t);S.append(s)
T=np.array(T);S=np.array(S,dtype=np.float32).astype(np.float64);P=(S>.5).astype(int)
print('labels');
for a in ('macro','weighted','micro'): pr(a,list(M.precision_recall_fscore_support(T,P,average=a)[:3]))
pr('auc',M.roc_auc_score(T,S,average=None));pr('ap',M.average_precision_score(T,S,average=None));pr('acc',float((T==P).mean()))
pr('logloss',float(np.mean([M.log_loss(T[:,k],S[:,k]) for k in range(3)])))
