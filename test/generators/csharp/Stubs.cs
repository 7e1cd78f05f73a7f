// The client refers to two packages of NuGet that these tests cannot install. It uses neither: Polly only with retry policies,
// and JsonSubTypes only in `using`.
using System;
using System.Threading.Tasks;

namespace JsonSubTypes
{
    internal static class Unused { }
}

namespace Polly
{
    public enum OutcomeType { Successful, Failure }

    public class PolicyResult<T>
    {
        public OutcomeType Outcome { get; set; }
        public T Result { get; set; }
        public Exception FinalException { get; set; }
    }

    public interface ISyncPolicy<T> { }

    public interface IAsyncPolicy<T>
    {
        Task<PolicyResult<T>> ExecuteAndCaptureAsync(Func<Task<T>> action);
    }
}
