// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Relay} from "../../../contracts/Relay.sol";
import {IRelay} from "../../../contracts/interfaces/IRelay.sol";
import {CallProbe} from "../../../contracts/mocks/CallProbe.sol";
import {IWalletDelegate} from "../../../contracts/interfaces/IWalletDelegate.sol";
import {TestSystem} from "../support/TestSystem.sol";
import {ReentrantTarget} from "./hostile/ReentrantTarget.sol";

/// @title RelayHandler
/// @notice Sends random batches through the relay, with repeated and cancelled numbers, failures and too little gas.
contract RelayHandler is TestSystem {
    /// @dev Few enough that numbers repeat, spread over four words of the bitmap.
    uint256 public constant NUMBERS = 24;

    /// @dev Enough for the calls that {ReentrantTarget} tries.
    uint32 private constant _REENTRANT_GAS = 1_000_000;

    CallProbe public immutable PROBE;

    ReentrantTarget public target;

    /// @notice The outcome of each number. Once it is not Open, it never changes.
    enum Fate {
        Open,
        Ran,
        Failed,
        Cancelled,
        RanReentrant
    }

    mapping(uint256 number => Fate) public fateOf;

    /// @notice Describes where the relay differed from the model. Must stay empty.
    string public fault;

    constructor() {
        PROBE = new CallProbe();
    }

    /// @notice Takes what the test created: all of it together exceeds the code that one creation may carry.
    /// @param delegate The code of a wallet.
    function begin(ReentrantTarget target_, address delegate) external {
        if (address(target) != address(0)) return;
        target = target_;
        RELAY.setOperator(address(target_), true);
        VM.etch(_walletOf(0), delegate.code);
    }

    function numberAt(uint256 seed) public pure returns (uint256) {
        uint256 index = seed % NUMBERS;
        return (index % 4) * 256 + index / 4 + (index % 2 == 0 ? 0 : 1 << 255);
    }

    /// @notice Sends a batch of up to six calls with a random amount of gas, so that it can stop before any call.
    function execute(uint256[6] calldata seeds, uint8 length, uint256 gasSeed) external {
        IRelay.Call[] memory calls = new IRelay.Call[](length % 7);
        for (uint256 i = 0; i < calls.length; ++i) {
            calls[i] = IRelay.Call(numberAt(seeds[i]), address(PROBE), 60_000, _data(seeds[i]));
        }
        (bool success, bytes memory result) = address(RELAY).call{gas: 330_000 + (gasSeed % 700_000)}(
            abi.encodeCall(IRelay.execute, (calls))
        );
        // Too little gas even to stop cleanly: the transaction reverted and changed nothing.
        if (!success) return;
        uint256 executed = abi.decode(result, (uint256));
        if (executed > calls.length) fault = "more than were given";
        for (uint256 i = 0; i < executed; ++i) {
            uint256 number = calls[i].number;
            if (fateOf[number] == Fate.Open) fateOf[number] = _fails(seeds[i]) ? Fate.Failed : Fate.Ran;
        }
    }

    /// @notice Sends a batch whose calls try to run numbers themselves, directly and through a wallet.
    function executeReentrant(uint256[4] calldata seeds, uint256[2] calldata others, bool signed) external {
        IRelay.Call[] memory calls = new IRelay.Call[](seeds.length);
        uint256[2] memory numbers = [numberAt(others[0]), numberAt(others[1])];
        for (uint256 i = 0; i < calls.length; ++i) {
            uint256 number = numberAt(seeds[i]);
            calls[i] =
                signed
                    ? IRelay.Call(number, _walletOf(0), _REENTRANT_GAS, _signedCall(number, numbers))
                    : IRelay.Call(
                        number,
                        address(target),
                        _REENTRANT_GAS,
                        abi.encodeCall(ReentrantTarget.run, (numbers))
                    );
        }
        RELAY.execute(calls);
        for (uint256 i = 0; i < calls.length; ++i) {
            if (fateOf[calls[i].number] == Fate.Open) fateOf[calls[i].number] = Fate.RanReentrant;
        }
    }

    function cancel(uint256 seed, bool paused) external {
        uint256[] memory numbers = new uint256[](2);
        (numbers[0], numbers[1]) = (numberAt(seed), numberAt(seed / NUMBERS));
        if (paused) RELAY.pause();
        RELAY.cancel(numbers);
        if (paused) RELAY.unpause();
        for (uint256 i = 0; i < 2; ++i) {
            if (fateOf[numbers[i]] == Fate.Open) fateOf[numbers[i]] = Fate.Cancelled;
        }
    }

    function executeAsStranger(uint256 seed, address stranger) external {
        // The fuzzer also tries the addresses of contracts it knows, and some of them are operators.
        if (RELAY.isOperator(stranger)) return;
        IRelay.Call[] memory calls = new IRelay.Call[](1);
        calls[0] = IRelay.Call(numberAt(seed), address(PROBE), 60_000, abi.encodeCall(CallProbe.count, ()));
        VM.prank(stranger);
        (bool success, ) = address(RELAY).call(abi.encodeCall(IRelay.execute, (calls)));
        if (success) fault = "a stranger ran a batch";
    }

    function relay() external view returns (Relay) {
        return RELAY;
    }

    function _signedCall(uint256 number, uint256[2] memory numbers) private returns (bytes memory call) {
        bytes memory data = abi.encodeCall(ReentrantTarget.runSigned, (number, numbers));
        bytes32 typeHash = keccak256("Execution(address relay,address target,bytes data,uint256 number)");
        bytes32 structHash = keccak256(abi.encode(typeHash, address(RELAY), address(target), keccak256(data), number));
        bytes32 digest = keccak256(abi.encodePacked(hex"1901", _domainSeparator(_walletOf(0)), structHash));
        (bytes32 r, bytes32 vs) = _sign(_keyOf(0), digest);
        call = abi.encodeCall(IWalletDelegate.execute, (address(target), data, r, vs));
        target.learn(_walletOf(0), abi.encodePacked(call, number));
    }

    function _data(uint256 seed) private pure returns (bytes memory) {
        return _fails(seed) ? abi.encodeCall(CallProbe.fail, (seed)) : abi.encodeCall(CallProbe.count, ());
    }

    function _fails(uint256 seed) private pure returns (bool) {
        return (seed >> 128) % 3 == 0;
    }
}
